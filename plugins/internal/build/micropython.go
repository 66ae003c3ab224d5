package build

import "strings"

// What the engine of plugins in Python is made of, as MicroPython has it in its folders.
const (
	pythonCore = `argcheck bc binary builtinevex builtinimport compile cstack emitbc emitcommon emitglue formatfloat gc lexer
		malloc map modarray modbuiltins modcollections moderrno modgc modio modmath modmicropython modstruct modsys
		mpprint mpstate mpz nlr obj objarray objattrtuple objbool objboundmeth objcell objclosure objcode objdeque
		objdict objenumerate objexcept objfilter objfloat objfun objgenerator objgetitemiter objint objint_mpz objlist
		objmap objmodule objnamedtuple objnone objobject objpolyiter objproperty objrange objreversed objringio objset
		objsingleton objslice objstr objstringio objstrunicode objtuple objtype objzip opmethods pairheap parse
		parsenum parsenumbase qstr reader ringbuf runtime runtime_utils scope sequence smallint stackctrl stream
		unicode vm vstr warning`
	pythonModules = "modbinascii modhashlib modheapq modjson modre"
)

func micropython() (files []string) {
	for _, name := range strings.Fields(pythonCore) {
		files = append(files, "micropython/py/"+name+".c")
	}
	for _, name := range strings.Fields(pythonModules) {
		files = append(files, "micropython/extmod/"+name+".c")
	}
	return files
}
