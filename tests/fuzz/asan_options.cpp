// Where an allocation was made is seldom asked for and costs much.
extern "C" const char* __asan_default_options() { return "malloc_context_size=4"; }
