// What MicroPython asks of the machine below it: somewhere to print to.
void mp_hal_stdout_tx_strn_cooked(const char *text, size_t size);
#define mp_hal_pin_obj_t // there are no pins
