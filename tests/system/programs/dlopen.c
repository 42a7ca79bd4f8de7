/* dlopen PLUGIN: a program without MPI that loads a module which has it, privately, as interpreters
 * do. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int (*plugin)(int *, char ***);
    if (argc != 2)
        return 2;
    void *module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!module) {
        fprintf(stderr, "dlopen: %s\n", dlerror());
        return 3;
    }
    *(void **)&plugin = dlsym(module, "plugin");
    return plugin ? plugin(&argc, &argv) : 4;
}
