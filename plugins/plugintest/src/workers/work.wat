;; The worker by hand: see README.md beside it. It keeps nothing in memory that it
;; needs: what it is doing is in locals, and its digest in a global.
(module
  (import "wharf" "read" (func $read (param i32 i32) (result i32)))
  (import "wharf" "input" (func $input (param i32 i32) (result i64)))
  (import "wharf" "output" (func $output (param i32 i32) (result i64)))
  (import "wharf" "clock" (func $clock (param i32 i32) (result i64)))
  (import "wharf" "random" (func $random (param i32 i32) (result i64)))
  (import "wharf" "log" (func $log (param i32 i32) (result i64)))
  (import "wharf" "state.get" (func $state_get (param i32 i32) (result i64)))
  (import "wharf" "state.set" (func $state_set (param i32 i32) (result i64)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $wasi_clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $wasi_random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $wasi_close (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_renumber" (func $wasi_renumber (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_get" (func $wasi_status (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_set_flags" (func $wasi_flags (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $wasi_exit (param i32)))

  (memory (export "memory") 2 200)
  (table $table 4 100 funcref)
  (table $pile 0 externref)
  (elem (table $table) (i32.const 0) func $even $odd)
  (elem $passive funcref (ref.func $odd) (ref.func $even))
  (data $text "here from the start")

  (global $digest (mut i64) (i64.const 0xcbf29ce484222325)) ;; FNV-1a
  (global $a (export "a") (mut i32) (i32.const 1))
  (global $b (mut i64) (i64.const 2))
  (global $c (mut f32) (f32.const 0.5))
  (global $d (mut f64) (f64.const nan:0x8deadbeef0001))
  (global $e (mut v128) (v128.const i64x2 1 2))
  (global $f (mut funcref) (ref.func $even))
  (global $g (mut externref) (ref.null extern))

  ;; What follows lies at 0: doubles, and at 128 singles.
  (data (i32.const 0)
    "\00\00\00\00\00\00\00\00\00\00\00\00\00\00\00\80\00\00\00\00\00\00\f0\3f\00\00\00\00\00\00\f0\bf"
    "\9a\99\99\99\99\99\b9\3f\a0\c8\eb\85\f3\cc\e1\7f\a0\c8\eb\85\f3\cc\e1\ff\01\00\00\00\00\00\00\00"
    "\00\00\00\00\00\00\f0\7f\00\00\00\00\00\00\f0\ff\00\00\00\00\00\00\f8\7f\00\00\00\00\00\00\f8\ff"
    "\01\00\ef\be\ad\de\f8\7f\01\00\00\00\00\00\f0\7f\18\2d\44\54\fb\21\09\40\bc\9a\78\56\34\12\00\00"
    "\00\00\00\80\00\00\80\3f\ff\ff\7f\7f\01\00\00\00"
    "\00\00\80\7f\00\00\80\ff\23\01\c0\ff\01\00\80\7f"
  )
  (data (i32.const 256) "{\"key\":\"work\",\"value\":\"here\"}")
  (data (i32.const 320) "{\"key\":\"work\"}")
  (data (i32.const 384) "{\"level\":\"info\",\"message\":\"here\"}")
  (data (i32.const 448) "\10\00\00\00")

  (func $mix_byte (param $byte i64)
    (global.set $digest
      (i64.mul (i64.xor (global.get $digest) (local.get $byte)) (i64.const 0x100000001b3))))

  (func $mix (param $v i64)
    (local $left i32)
    (local.set $left (i32.const 8))
    (loop $next
      (call $mix_byte (i64.and (local.get $v) (i64.const 0xff)))
      (local.set $v (i64.shr_u (local.get $v) (i64.const 8)))
      (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1))))))

  (func $mix_bytes (param $p i32) (param $n i32)
    (block $end
      (loop $next
        (br_if $end (i32.eqz (local.get $n)))
        (call $mix_byte (i64.load8_u (local.get $p)))
        (local.set $p (i32.add (local.get $p) (i32.const 1)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next))))

  (func $mix_i32 (param $v i32) (call $mix (i64.extend_i32_u (local.get $v))))
  (func $mix_f64 (param $v f64) (call $mix (i64.reinterpret_f64 (local.get $v))))
  (func $mix_f32 (param $v f32) (call $mix_i32 (i32.reinterpret_f32 (local.get $v))))
  (func $mix_v128 (param $v v128)
    (call $mix (i64x2.extract_lane 0 (local.get $v)))
    (call $mix (i64x2.extract_lane 1 (local.get $v))))

  (func $doubles (param $a f64) (param $b f64)
    (call $mix_f64 (f64.add (local.get $a) (local.get $b)))
    (call $mix_f64 (f64.sub (local.get $a) (local.get $b)))
    (call $mix_f64 (f64.mul (local.get $a) (local.get $b)))
    (call $mix_f64 (f64.div (local.get $a) (local.get $b)))
    (call $mix_f64 (f64.neg (f64.mul (local.get $a) (local.get $b))))
    (call $mix_f64 (f64.copysign (f64.sub (local.get $a) (local.get $b)) (local.get $b))))

  (func $singles (param $a f32) (param $b f32)
    (call $mix_f32 (f32.add (local.get $a) (local.get $b)))
    (call $mix_f32 (f32.sub (local.get $a) (local.get $b)))
    (call $mix_f32 (f32.mul (local.get $a) (local.get $b)))
    (call $mix_f32 (f32.div (local.get $a) (local.get $b)))
    (call $mix_f64 (f64.promote_f32 (local.get $a))))

  (func $rounded (param $a f64)
    (call $mix_f64 (f64.sqrt (local.get $a)))
    (call $mix_f64 (f64.neg (local.get $a)))
    (call $mix_f32 (f32.demote_f64 (local.get $a)))
    (call $mix_f64 (f64.floor (local.get $a)))
    (call $mix_f64 (f64.ceil (local.get $a)))
    (call $mix_f64 (f64.trunc (local.get $a)))
    (call $mix_f64 (f64.nearest (local.get $a))))

  (func $chaos (param $n i32)
    (local $i i32) (local $x f64) (local $sum f64)
    (local.set $x (f64.const 0.5))
    (block $end
      (loop $next
        (br_if $end (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (local.set $x (f64.mul (f64.mul (f64.const 3.99) (local.get $x)) (f64.sub (f64.const 1) (local.get $x))))
        (local.set $sum (f64.add (local.get $sum) (f64.div (f64.sqrt (local.get $x)) (f64.convert_i32_u (local.get $i)))))
        (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 16)))
          (then (local.set $sum (f64.div (local.get $sum) (f64.sub (local.get $x) (local.get $x))))))
        (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 32)))
          (then (local.set $sum (f64.sub (local.get $sum) (local.get $sum)))))
        (call $mix_f64 (local.get $sum))
        (if (i32.eqz (i32.rem_u (local.get $i) (i32.const 32)))
          (then (local.set $sum (local.get $x))))
        (br $next)))
    (call $mix_f64 (local.get $x)))

  (func $floats (param $n i32)
    (local $i i32) (local $j i32)
    (loop $i
      (local.set $j (i32.const 0))
      (loop $j
        (call $doubles (f64.load (local.get $i)) (f64.load (local.get $j)))
        (br_if $j (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const 8))) (i32.const 128))))
      (br_if $i (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (i32.const 128))))
    (local.set $i (i32.const 128))
    (loop $i
      (local.set $j (i32.const 128))
      (loop $j
        (call $singles (f32.load (local.get $i)) (f32.load (local.get $j)))
        (br_if $j (i32.lt_u (local.tee $j (i32.add (local.get $j) (i32.const 4))) (i32.const 160))))
      (br_if $i (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 4))) (i32.const 160))))
    (local.set $i (i32.const 0))
    (loop $i
      (call $rounded (f64.load (local.get $i)))
      (br_if $i (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 8))) (i32.const 128))))
    (call $chaos (local.get $n)))

  (func $vectors (param $n i32)
    (local $i i32) (local $a v128) (local $b v128) (local $sum v128)
    (block $end
      (loop $next
        (br_if $end (i32.ge_u (local.get $i) (local.get $n)))
        (local.set $a (v128.load (i32.mul (i32.rem_u (local.get $i) (i32.const 15)) (i32.const 8))))
        (local.set $b (v128.load (i32.mul (i32.rem_u (i32.mul (local.get $i) (i32.const 7)) (i32.const 15)) (i32.const 8))))
        (local.set $sum (f64x2.add (local.get $sum) (f64x2.mul (local.get $a) (local.get $b))))
        (call $mix_v128 (local.get $sum))
        (call $mix_v128 (f64x2.div (local.get $a) (local.get $b)))
        (call $mix_v128 (f64x2.neg (f64x2.sub (local.get $a) (local.get $b))))
        (call $mix_v128 (f64x2.sqrt (local.get $b)))
        (call $mix_v128 (f64x2.max (local.get $a) (local.get $b)))
        (call $mix_v128 (f64x2.pmin (local.get $a) (f64x2.sub (local.get $b) (local.get $b))))
        (call $mix_v128 (f32x4.add (local.get $a) (local.get $b)))
        (call $mix_v128 (f32x4.mul (v128.load (i32.const 128)) (v128.load (i32.const 144))))
        (call $mix_v128 (f32x4.ceil (v128.load (i32.const 144))))
        (call $mix_v128 (f32x4.demote_f64x2_zero (local.get $a)))
        (call $mix_v128 (f64x2.promote_low_f32x4 (local.get $b)))
        (call $mix_f32 (f32x4.extract_lane 2 (f32x4.div (local.get $a) (local.get $b))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $next))))

  (func $grow (param $n i32)
    (local $before i32)
    (block $end
      (loop $next
        (br_if $end (i32.eqz (local.get $n)))
        (local.set $before (memory.grow (i32.const 1)))
        (call $mix_i32 (local.get $before))
        (if (i32.ne (local.get $before) (i32.const -1))
          (then
            (call $mix (i64.load offset=8 (i32.shl (local.get $before) (i32.const 16))))
            (i64.store offset=8 (i32.shl (local.get $before) (i32.const 16)) (i64.const 0xdead))))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next))))

  (func $even (type $step) (param $n i64) (result i64)
    (if (result i64) (i64.eqz (local.get $n))
      (then (i64.const 1))
      (else
        (i64.add (local.get $n)
          (i64.mul (i64.const 31)
            (call_indirect $table (type $step) (i64.sub (local.get $n) (i64.const 1)) (i32.const 1)))))))

  (func $odd (type $step) (param $n i64) (result i64)
    (if (result i64) (i64.eqz (local.get $n))
      (then (i64.const 1))
      (else
        (i64.add (local.get $n) (i64.mul (i64.const 31) (call $even (i64.sub (local.get $n) (i64.const 1))))))))
  (type $step (func (param i64) (result i64)))

  (func $answer (param $result i64)
    (call $mix (local.get $result))
    (call $mix_i32 (call $read (i32.const 4096) (i32.wrap_i64 (local.get $result))))
    (call $mix_bytes (i32.const 4096) (i32.wrap_i64 (local.get $result))))

  (func $calls (param $n i32)
    (block $end
      (loop $next
        (br_if $end (i32.eqz (local.get $n)))
        (call $mix_i32 (call $wasi_clock (i32.const 0) (i64.const 1) (i32.const 512)))
        (call $mix_i32 (call $wasi_clock (i32.const 1) (i64.const 1) (i32.const 520)))
        (call $mix_i32 (call $wasi_random (i32.const 528) (i32.const 16)))
        (call $mix_bytes (i32.const 512) (i32.const 32))
        (call $answer (call $clock (i32.const 0) (i32.const 0)))
        (call $answer (call $random (i32.const 448) (i32.const 4)))
        (call $answer (call $state_set (i32.const 256) (i32.const 29)))
        (call $answer (call $state_get (i32.const 320) (i32.const 14)))
        (call $answer (call $log (i32.const 384) (i32.const 33)))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br $next))))

  (func $descriptors
    (local $fd i32)
    (loop $next
      (memory.fill (i32.const 600) (i32.const 0) (i32.const 24))
      (call $mix_i32 (call $wasi_status (local.get $fd) (i32.const 600)))
      (call $mix_bytes (i32.const 600) (i32.const 24))
      (br_if $next (i32.lt_u (local.tee $fd (i32.add (local.get $fd) (i32.const 1))) (i32.const 6)))))

  ;; look mixes everything that another Task could have left behind. It traps when
  ;; segments are gone.
  (func $look
    (local $p i32) (local $end i32)
    (local.set $end (i32.shl (memory.size) (i32.const 16)))
    (call $mix_i32 (local.get $end))
    (loop $next
      (global.set $digest
        (i64.mul (i64.xor (global.get $digest) (i64.load (local.get $p))) (i64.const 0x100000001b3)))
      (br_if $next (i32.ne (local.tee $p (i32.add (local.get $p) (i32.const 8))) (local.get $end))))
    (call $mix_i32 (global.get $a))
    (call $mix (global.get $b))
    (call $mix_f32 (global.get $c))
    (call $mix_f64 (global.get $d))
    (call $mix_v128 (global.get $e))
    (call $mix_i32 (ref.is_null (global.get $f)))
    (call $mix_i32 (ref.is_null (global.get $g)))
    (call $mix_i32 (table.size $table))
    (local.set $p (i32.const 0))
    (loop $next
      (call $mix_i32 (ref.is_null (table.get $table (local.get $p))))
      (br_if $next (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 1))) (table.size $table))))
    (memory.init $text (i32.const 700) (i32.const 0) (i32.const 19))
    (call $mix_bytes (i32.const 700) (i32.const 19))
    (call $descriptors))

  ;; write writes everywhere, but where an instance cannot be made good again.
  (func $write (param $n i32)
    (call $mix_i32 (memory.grow (local.get $n)))
    (memory.fill (i32.const 0) (i32.const 0xad) (i32.shl (memory.size) (i32.const 16)))
    (global.set $a (i32.const 0xdead))
    (global.set $b (i64.const 0xdead))
    (global.set $c (f32.const nan))
    (global.set $d (f64.const -inf))
    (call $mix_i32 (call $wasi_flags (i32.const 1) (i32.const 1)))
    (call $mix_i32 (call $wasi_renumber (i32.const 2) (i32.const 5)))
    (call $mix_i32 (call $wasi_close (i32.const 0)))
    (call $mix_i32 (call $wasi_close (i32.const 1)))
    (call $mix_i32 (call $wasi_close (i32.const 2)))
    (call $descriptors))

  ;; undo changes what an instance cannot be told to take back. Each bit of n stands
  ;; for something.
  (func $undo (param $n i32)
    (if (i32.and (local.get $n) (i32.const 1)) (then (table.set $table (i32.const 2) (ref.func $even))))
    (if (i32.and (local.get $n) (i32.const 2)) (then (drop (table.grow $table (ref.null func) (i32.const 3)))))
    (if (i32.and (local.get $n) (i32.const 4)) (then (table.fill $table (i32.const 0) (ref.null func) (i32.const 2))))
    (if (i32.and (local.get $n) (i32.const 8)) (then (table.init $table $passive (i32.const 2) (i32.const 0) (i32.const 2))))
    (if (i32.and (local.get $n) (i32.const 16)) (then (table.copy $table $table (i32.const 2) (i32.const 0) (i32.const 2))))
    (if (i32.and (local.get $n) (i32.const 32)) (then (elem.drop $passive)))
    (if (i32.and (local.get $n) (i32.const 64)) (then (data.drop $text)))
    (if (i32.and (local.get $n) (i32.const 128)) (then (global.set $e (v128.const i64x2 -1 -1))))
    (if (i32.and (local.get $n) (i32.const 256)) (then (global.set $f (ref.null func)))))

  ;; pile grows a table without a maximum until that is refused, and traps.
  (func $pile
    (loop $next
      (br_if $next (i32.ne (i32.const -1) (table.grow $pile (ref.null extern) (i32.const 10000)))))
    unreachable)

  (func $busy
    (loop $next
      (global.set $b (i64.add (global.get $b) (i64.const 1)))
      (br $next)))

  ;; find returns where the eight bytes end, or 0.
  (func $find (param $text i64) (param $p i32) (param $end i32) (result i32)
    (loop $next
      (if (i64.eq (i64.load (local.get $p)) (local.get $text))
        (then (return (i32.add (local.get $p) (i32.const 8)))))
      (br_if $next (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 1))) (local.get $end))))
    (i32.const 0))

  (func $number (param $p i32) (result i32)
    (local $n i32) (local $digit i32)
    (if (i32.eqz (local.get $p)) (then (return (i32.const 1))))
    (block $end
      (loop $next
        (local.set $digit (i32.sub (i32.load8_u (local.get $p)) (i32.const 48)))
        (br_if $end (i32.gt_u (local.get $digit) (i32.const 9)))
        (local.set $n (i32.add (i32.mul (local.get $n) (i32.const 10)) (local.get $digit)))
        (local.set $p (i32.add (local.get $p) (i32.const 1)))
        (br $next)))
    (local.get $n))

  (func $work (param $word i32) (param $n i32) (result i32)
    (if (i32.eq (local.get $word) (i32.const 98 (; b ;))) (then (call $busy) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 99 (; c ;))) (then (call $calls (local.get $n)) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 101 (; e ;))) (then (call $wasi_exit (local.get $n))))
    (if (i32.eq (local.get $word) (i32.const 102 (; f ;))) (then (call $floats (local.get $n)) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 103 (; g ;))) (then (call $grow (local.get $n)) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 108 (; l ;))) (then (call $look) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 112 (; p ;))) (then (call $pile)))
    (if (i32.eq (local.get $word) (i32.const 114 (; r ;)))
      (then (call $mix (call $even (i64.extend_i32_u (local.get $n)))) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 116 (; t ;))) (then unreachable))
    (if (i32.eq (local.get $word) (i32.const 117 (; u ;))) (then (call $undo (local.get $n)) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 118 (; v ;))) (then (call $vectors (local.get $n)) (return (i32.const 1))))
    (if (i32.eq (local.get $word) (i32.const 119 (; w ;))) (then (call $write (local.get $n)) (return (i32.const 1))))
    (i32.const 0))

  ;; conclude writes {"summary":"…"} at 1024.
  (func $conclude (result i32)
    (local $i i32) (local $digit i32)
    (i64.store (i32.const 1024) (i64.const 0x72616d6d7573227b))  ;; {"summar
    (i32.store (i32.const 1032) (i32.const 0x223a2279))          ;; y":"
    (loop $next
      (local.set $digit
        (i32.wrap_i64
          (i64.and (i64.const 15)
            (i64.shr_u (global.get $digest) (i64.extend_i32_u (i32.sub (i32.const 60) (i32.shl (local.get $i) (i32.const 2))))))))
      (i32.store8 offset=1036 (local.get $i)
        (i32.add (local.get $digit)
          (select (i32.const 48) (i32.const 87) (i32.lt_u (local.get $digit) (i32.const 10)))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (i32.const 16))))
    (i32.store16 (i32.const 1052) (i32.const 0x7d22)) ;; "}
    (i32.wrap_i64 (i64.shr_u (call $output (i32.const 1024) (i32.const 30)) (i64.const 32))))

  (func (export "run") (result i32)
    (local $end i32) (local $word i32)
    (local.set $end (i32.add (i32.const 4096)
      (call $read (i32.const 4096) (i32.wrap_i64 (call $input (i32.const 0) (i32.const 0))))))
    (local.set $word (call $find (i64.const 0x223a226b726f7722) (i32.const 4096) (local.get $end)))  ;; "work":"
    (if (i32.eqz (local.get $word)) (then (return (i32.const 2))))
    (if
      (i32.eqz
        (call $work (i32.load8_u (local.get $word))
          (call $number (call $find (i64.const 0x3a2273656d697422) (i32.const 4096) (local.get $end))))) ;; "times":
      (then (return (i32.const 3))))
    (call $conclude)))
