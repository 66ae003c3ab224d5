// Of what release this is.
#define MICROPY_GIT_TAG "v1.25.0"
#define MICROPY_GIT_HASH "none"
#define MICROPY_BUILD_DATE "2025-04-15"
