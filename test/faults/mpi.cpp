// SPDX-License-Identifier: BSD-3-Clause
// Every call of MPI that the program makes can fail, as a real one does: through the error handler that is set.
#include <csignal>

#include <mpi.h>

#include "plan.hpp"

namespace {

// A request does not tell its communicator; all have the handler of the one that holds everybody.
int fail(MPI_Comm communicator) {
    PMPI_Comm_call_errhandler(communicator, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

// do=stop: the rank stops (SIGSTOP) ahead of the call, so that its peers wait in theirs. do=kill, do=term: it gets
// that signal there.
bool fails(const char* call) {
    if (!faults::strikes(call)) return false;
    const int number = faults::signal_of(faults::plan().action);
    if (number == 0) return true;
    raise(number);
    return false;
}

} // namespace

#define FAULTY(name, parameters, arguments, communicator)                                                          \
    int MPI_##name parameters {                                                                                    \
        return fails("MPI_" #name) ? fail(communicator) : PMPI_##name arguments;                                   \
    }

extern "C" {

// Before it there is no handler.
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
    return fails("MPI_Init_thread") ? MPI_ERR_OTHER : PMPI_Init_thread(argc, argv, required, provided);
}

FAULTY(Abort, (MPI_Comm comm, int code), (comm, code), comm)
FAULTY(Alltoall, (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype other, MPI_Comm comm),
       (from, n, type, to, m, other, comm), comm)
FAULTY(Comm_free, (MPI_Comm * comm), (comm), MPI_COMM_WORLD)
FAULTY(Comm_rank, (MPI_Comm comm, int* rank), (comm, rank), comm)
FAULTY(Comm_size, (MPI_Comm comm, int* size), (comm, size), comm)
FAULTY(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* made), (comm, color, key, made), comm)
FAULTY(Finalize, (), (), MPI_COMM_WORLD)
FAULTY(Get_library_version, (char* text, int* length), (text, length), MPI_COMM_WORLD)
FAULTY(Iallgather,
       (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype other, MPI_Comm comm,
        MPI_Request* request),
       (from, n, type, to, m, other, comm, request), comm)
FAULTY(Iallgatherv,
       (const void* from, int n, MPI_Datatype type, void* to, const int* m, const int* at, MPI_Datatype other,
        MPI_Comm comm, MPI_Request* request),
       (from, n, type, to, m, at, other, comm, request), comm)
FAULTY(Iallreduce,
       (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm, MPI_Request* request),
       (from, to, n, type, op, comm, request), comm)
FAULTY(Ibarrier, (MPI_Comm comm, MPI_Request* request), (comm, request), comm)
FAULTY(Ibcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request),
       (data, n, type, root, comm, request), comm)
FAULTY(Igather,
       (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype other, int root, MPI_Comm comm,
        MPI_Request* request),
       (from, n, type, to, m, other, root, comm, request), comm)
FAULTY(Igatherv,
       (const void* from, int n, MPI_Datatype type, void* to, const int* m, const int* at, MPI_Datatype other,
        int root, MPI_Comm comm, MPI_Request* request),
       (from, n, type, to, m, at, other, root, comm, request), comm)
FAULTY(Irecv, (void* to, int n, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request),
       (to, n, type, source, tag, comm, request), comm)
FAULTY(Test, (MPI_Request * request, int* flag, MPI_Status* status), (request, flag, status), MPI_COMM_WORLD)

// call=MPI_heartbeat: one by which ranks hear, amid a duration, that another is still there.
int MPI_Isend(const void* from, int n, MPI_Datatype type, int target, int tag, MPI_Comm comm,
              MPI_Request* request) {
    constexpr int kHeartbeat = 5; // src/job/tags.hpp
    if (tag == kHeartbeat && fails("MPI_heartbeat")) return fail(comm);
    return fails("MPI_Isend") ? fail(comm) : PMPI_Isend(from, n, type, target, tag, comm, request);
}

} // extern "C"
