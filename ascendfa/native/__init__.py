"""The C ABI: ctypes over libascendcl, libnnopbase and the op package's libcust_opapi."""
