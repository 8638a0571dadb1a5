/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of attributes: their strings, value types and meanings. */
#ifndef PMIX_ATTRIBUTES_H
#define PMIX_ATTRIBUTES_H

/*
 * One key a line, so that a search for a key shows all of it: lines are longer here
 * than elsewhere. "T[]" is a pmix_data_array_t* with elements of T. The strings are
 * those of existing libraries; where releases differ, the comment gives the newer
 * string, and this library accepts both. A bool without a value means true.
 */

/* clang-format off */

/* Environment of launched tools */
#define PMIX_LAUNCHER_RNDZ_URI  "PMIX_LAUNCHER_RNDZ_URI"  /* address of the tool that started the launcher */
#define PMIX_LAUNCHER_RNDZ_FILE "PMIX_LAUNCHER_RNDZ_FILE" /* file a launcher writes its own address to */
#define PMIX_KEEPALIVE_PIPE     "PMIX_KEEPALIVE_PIPE"     /* descriptor whose closing ends the process */

/* Empty key */
#define PMIX_ATTR_UNDEF "pmix.undef" /* none: no attribute */

/* Initialization and progress */
#define PMIX_EXTERNAL_PROGRESS       "pmix.evext"         /* bool: the program calls PMIx_Progress; no thread is made */
#define PMIX_EXTERNAL_AUX_EVENT_BASE "pmix.evaux"         /* void*: event base for the library's side work */
#define PMIX_PROGRESS_THREAD_NAME    "pmix.evname"        /* char*: name of the progress thread; newer: "pmix.pthrdnm" */
#define PMIX_PROGRESS_THREAD_FLUSH   "pmix.evflush"       /* bool: work off what is due before the thread stops */
#define PMIX_BIND_PROGRESS_THREAD    "pmix.bind.pt"       /* char*: CPUs to bind the progress thread to */
#define PMIX_BIND_REQUIRED           "pmix.bind.reqd"     /* bool: fail if that binding is not possible */
#define PMIX_VERSION_INFO            "pmix.version"       /* char*: version text of the peer */
#define PMIX_VERSION_NUMERIC         "pmix.vers.num"      /* uint32_t: version number of the peer */
#define PMIX_EMBED_BARRIER           "pmix.embed.barrier" /* bool: finalize waits for all of the namespace */

/* Server start */
#define PMIX_SERVER_TOOL_SUPPORT        "pmix.srvr.tool"    /* bool: let tools connect */
#define PMIX_SERVER_ALLOW_FOREIGN_TOOLS "pmix.srvr.ftools"  /* bool: let tools of other users connect */
#define PMIX_ALLOW_CLIENT_CLONES        "pmix.allow.clones" /* bool: let several processes be the same client */
#define PMIX_SERVER_REMOTE_CONNECTIONS  "pmix.srvr.remote"  /* bool: let tools on other nodes connect */
#define PMIX_SERVER_SYSTEM_SUPPORT      "pmix.srvr.sys"     /* bool: be the system's server on this node */
#define PMIX_SERVER_SESSION_SUPPORT     "pmix.srvr.sess"    /* bool: be the session's server on this node */
#define PMIX_SERVER_GATEWAY             "pmix.srv.gway"     /* bool: server is a gateway, whose system log is that of all nodes */
#define PMIX_SERVER_SYS_CONTROLLER      "pmix.srv.ctrlr"    /* bool: host is the system controller */
#define PMIX_SERVER_SCHEDULER           "pmix.srv.sched"    /* bool: host is the scheduler */
#define PMIX_SERVER_TMPDIR              "pmix.srvr.tmpdir"  /* char*: top directory for the server's files */
#define PMIX_SYSTEM_TMPDIR              "pmix.sys.tmpdir"   /* char*: directory for the system server's rendezvous files */
#define PMIX_SERVER_SHARE_TOPOLOGY      "pmix.srvr.share"   /* bool: share the node's topology with clients */
#define PMIX_SERVER_ENABLE_MONITORING   "pmix.srv.monitor"  /* bool: false: leave all monitors to the host */
#define PMIX_SERVER_NSPACE              "pmix.srv.nspace"   /* char*: namespace of the server */
#define PMIX_SERVER_RANK                "pmix.srv.rank"     /* pmix_rank_t: rank of the server */
#define PMIX_SERVER_START_TIME          "pmix.srv.strtime"  /* char*: when the server started */
#define PMIX_HOMOGENEOUS_SYSTEM         "pmix.homo"         /* bool: all nodes have the same packages and devices */
#define PMIX_SINGLETON                  "pmix.singleton"    /* char*: identity of the singleton to serve, "nspace.rank" */
#define PMIX_TOPOLOGY2                  "pmix.topo2"        /* pmix_topology_t*: topology of the node */

/* Tool start and connection */
#define PMIX_TOOL_NSPACE               "pmix.tool.nspace"    /* char*: namespace the tool asks for */
#define PMIX_TOOL_RANK                 "pmix.tool.rank"      /* uint32_t: rank the tool asks for */
#define PMIX_TOOL_DO_NOT_CONNECT       "pmix.tool.nocon"     /* bool: do not connect to any server */
#define PMIX_TOOL_CONNECT_OPTIONAL     "pmix.tool.conopt"    /* bool: go on if no server can be reached */
#define PMIX_TOOL_ATTACHMENT_FILE      "pmix.tool.attach"    /* char*: file that names the server to connect to */
#define PMIX_LAUNCHER                  "pmix.tool.launcher"  /* bool: tool is a launcher, and a server for the processes it starts */
#define PMIX_LAUNCHER_RENDEZVOUS_FILE  "pmix.tool.lncrnd"    /* char*: file the launcher shall write its address to */
#define PMIX_SERVER_PIDINFO            "pmix.srvr.pidinfo"   /* pid_t: process id of the server to connect to */
#define PMIX_SERVER_URI                "pmix.srvr.uri"       /* char*: address of the server to connect to */
#define PMIX_MYSERVER_URI              "pmix.mysrvr.uri"     /* char*: address of this process's own server */
#define PMIX_SERVER_HOSTNAME           "pmix.srvr.host"      /* char*: host the server runs on */
#define PMIX_CONNECT_TO_SYSTEM         "pmix.cnct.sys"       /* bool: connect to the system server only */
#define PMIX_CONNECT_SYSTEM_FIRST      "pmix.cnct.sys.first" /* bool: try the system server before others */
#define PMIX_CONNECT_TO_SCHEDULER      "pmix.cnct.sched"     /* bool: connect to the scheduler */
#define PMIX_CONNECT_TO_SYS_CONTROLLER "pmix.cnct.ctrlr"     /* bool: connect to the system controller */
#define PMIX_CONNECTION_ORDER          "pmix.cnct.ord"       /* char*: servers to try in order, separated by commas */
#define PMIX_CONNECT_MAX_RETRIES       "pmix.tool.mretries"  /* uint32_t: times to try again */
#define PMIX_CONNECT_RETRY_DELAY       "pmix.tool.retry"     /* uint32_t: seconds between tries */
#define PMIX_PRIMARY_SERVER            "pmix.pri.srvr"       /* bool: make this the server requests go to */
#define PMIX_WAIT_FOR_CONNECTION       "pmix.wait.conn"      /* bool: wait until the server is connected */

/* Sockets */
#define PMIX_TCP_REPORT_URI   "pmix.tcp.repuri"    /* char*: write own address: "-" stdout, "+" stderr, a descriptor, or a file */
#define PMIX_TCP_URI          "pmix.tcp.uri"       /* char*: address of the server to connect to, or "file:" and a path */
#define PMIX_TCP_IF_INCLUDE   "pmix.tcp.ifinclude" /* char*: interfaces to use, separated by commas */
#define PMIX_TCP_IF_EXCLUDE   "pmix.tcp.ifexclude" /* char*: interfaces not to use, separated by commas */
#define PMIX_TCP_IPV4_PORT    "pmix.tcp.ipv4"      /* int: port to listen on */
#define PMIX_TCP_IPV6_PORT    "pmix.tcp.ipv6"      /* int: port to listen on */
#define PMIX_TCP_DISABLE_IPV4 "pmix.tcp.disipv4"   /* bool: do not use IPv4 */
#define PMIX_TCP_DISABLE_IPV6 "pmix.tcp.disipv6"   /* bool: do not use IPv6 */

/* The requestor */
#define PMIX_REALUID             "pmix.ruid"       /* uint32_t: real user id of the requestor */
#define PMIX_USERID              "pmix.euid"       /* uint32_t: effective user id of the requestor */
#define PMIX_REALGID             "pmix.rgid"       /* uint32_t: real group id of the requestor */
#define PMIX_GRPID               "pmix.egid"       /* uint32_t: effective group id of the requestor */
#define PMIX_REQUESTOR           "pmix.requestor"  /* pmix_proc_t*: process that asks */
#define PMIX_REQUESTOR_IS_TOOL   "pmix.req.tool"   /* bool: it is a tool */
#define PMIX_REQUESTOR_IS_CLIENT "pmix.req.client" /* bool: it is a client */
#define PMIX_CREDENTIAL          "pmix.cred"       /* char*: credential the requestor gave */
#define PMIX_CRED_TYPE           "pmix.sec.ctype"  /* char*: kinds of credential wanted, in order of preference */

/* Programming models in one process */
#define PMIX_PROGRAMMING_MODEL     "pmix.pgm.model"   /* char*: e.g. "MPI" or "OpenMP" */
#define PMIX_MODEL_LIBRARY_NAME    "pmix.mdl.name"    /* char*: library that implements it */
#define PMIX_MODEL_LIBRARY_VERSION "pmix.mld.vrs"     /* char*: version of that library */
#define PMIX_THREADING_MODEL       "pmix.threads"     /* char*: e.g. "pthreads" */
#define PMIX_MODEL_NUM_THREADS     "pmix.mdl.nthrds"  /* uint64_t: threads it has in use */
#define PMIX_MODEL_NUM_CPUS        "pmix.mdl.ncpu"    /* uint64_t: CPUs it has in use */
#define PMIX_MODEL_CPU_TYPE        "pmix.mdl.cputype" /* char*: unit of that count: "hwthread", "core" and so on */
#define PMIX_MODEL_PHASE_NAME      "pmix.mdl.phase"   /* char*: name the user gave to the present phase */
#define PMIX_MODEL_PHASE_TYPE      "pmix.mdl.ptype"   /* char*: kind of phase */
#define PMIX_MODEL_AFFINITY_POLICY "pmix.mdl.tap"     /* char*: policy for binding its threads */
#define PMIX_MEM_ALLOC_KIND        "pmix.alloc.mkind" /* char*: kinds of memory the program wants to use */
#define PMIX_GPU_SUPPORT           "pmix.gpu.support" /* bool: program uses GPUs */

/* Session information */
#define PMIX_SESSION_ID          "pmix.session.id"   /* uint32_t: number the host gave the session */
#define PMIX_CLUSTER_ID          "pmix.clid"         /* char*: name of the cluster */
#define PMIX_UNIV_SIZE           "pmix.univ.size"    /* uint32_t: slots of the session */
#define PMIX_MAX_PROCS           "pmix.max.size"     /* uint32_t: most processes the realm can hold */
#define PMIX_NUM_SLOTS           "pmix.num.slots"    /* uint32_t: slots of the realm */
#define PMIX_NUM_NODES           "pmix.num.nodes"    /* uint32_t: nodes of the realm */
#define PMIX_NUM_ALLOCATED_NODES "pmix.num.anodes"   /* uint32_t: nodes the allocation has */
#define PMIX_NODE_LIST           "pmix.nlist"        /* char*: nodes of the realm that run processes */
#define PMIX_ALLOCATED_NODELIST  "pmix.alist"        /* char*: nodes of the allocation */
#define PMIX_NODE_MAP            "pmix.nmap"         /* char*: nodes of the job, from PMIx_generate_regex */
#define PMIX_NODE_MAP_RAW        "pmix.nmap.raw"     /* char*: nodes of the job, separated by commas */
#define PMIX_PROC_MAP            "pmix.pmap"         /* char*: ranks by node, from PMIx_generate_ppn */
#define PMIX_PROC_MAP_RAW        "pmix.pmap.raw"     /* char*: ranks by node: "0,1;2,3" */
#define PMIX_ANL_MAP             "pmix.anlmap"       /* char*: ranks by node in the notation of MPICH */
#define PMIX_TMPDIR              "pmix.tmpdir"       /* char*: top directory of the session on this node */
#define PMIX_TDIR_RMCLEAN        "pmix.tdir.rmclean" /* bool: the resource manager removes the session directories */
#define PMIX_HOSTNAME_KEEP_FQDN  "pmix.fqdn"         /* bool: host names are fully qualified */
#define PMIX_RM_NAME             "pmix.rm.name"      /* char*: name of the resource manager */
#define PMIX_RM_VERSION          "pmix.rm.version"   /* char*: its version */

/* Job information */
#define PMIX_JOBID         "pmix.jobid"      /* char*: name of the job */
#define PMIX_JOB_SIZE      "pmix.job.size"   /* uint32_t: processes of the job */
#define PMIX_JOB_NUM_APPS  "pmix.job.napps"  /* uint32_t: applications of the job */
#define PMIX_LOCAL_SIZE    "pmix.local.size" /* uint32_t: processes of the job on this node */
#define PMIX_LOCAL_PEERS   "pmix.lpeers"     /* char*: their ranks, separated by commas */
#define PMIX_LOCAL_PROCS   "pmix.lprocs"     /* pmix_proc_t[]: all processes on this node */
#define PMIX_LOCAL_CPUSETS "pmix.lcpus"      /* char*: their CPU sets, separated by colons */
#define PMIX_LOCALLDR      "pmix.lldr"       /* pmix_rank_t: lowest rank of the job on this node */
#define PMIX_NPROC_OFFSET  "pmix.offset"     /* pmix_rank_t: first global rank of the job */
#define PMIX_NSDIR         "pmix.nsdir"      /* char*: directory of the job on this node */
#define PMIX_CMD_LINE      "pmix.cmd.line"   /* char*: command line that started the job */

/* Application information */
#define PMIX_APPNUM        "pmix.appnum"      /* uint32_t: number of the application within its job */
#define PMIX_APP_SIZE      "pmix.app.size"    /* uint32_t: processes of the application */
#define PMIX_APPLDR        "pmix.aldr"        /* pmix_rank_t: lowest rank of the application */
#define PMIX_APP_ARGV      "pmix.app.argv"    /* char*: command line of the application */
#define PMIX_APP_MAP_TYPE  "pmix.apmap.type"  /* char*: mapping of the application: "cyclic" and so on */
#define PMIX_APP_MAP_REGEX "pmix.apmap.regex" /* char*: its map in compact form */

/* Process information */
#define PMIX_PROCID            "pmix.procid"    /* pmix_proc_t*: namespace and rank */
#define PMIX_NSPACE            "pmix.nspace"    /* char*: namespace */
#define PMIX_RANK              "pmix.rank"      /* pmix_rank_t: rank within the job */
#define PMIX_GLOBAL_RANK       "pmix.grank"     /* pmix_rank_t: rank within the session */
#define PMIX_APP_RANK          "pmix.apprank"   /* pmix_rank_t: rank within the application */
#define PMIX_LOCAL_RANK        "pmix.lrank"     /* uint16_t: rank among the job's processes on its node */
#define PMIX_NODE_RANK         "pmix.nrank"     /* uint16_t: rank among all processes on its node */
#define PMIX_PACKAGE_RANK      "pmix.pkgrank"   /* uint16_t: rank among the job's processes on its package */
#define PMIX_PROC_PID          "pmix.ppid"      /* pid_t: process id */
#define PMIX_PROCDIR           "pmix.pdir"      /* char*: directory of the process */
#define PMIX_CPUSET            "pmix.cpuset"    /* char*: CPUs it is bound to, as text */
#define PMIX_CPUSET_BITMAP     "pmix.bitmap"    /* pmix_cpuset_t*: CPUs it is bound to */
#define PMIX_LOCALITY_STRING   "pmix.locstr"    /* char*: location of its binding, for PMIx_Get_relative_locality */
#define PMIX_SPAWNED           "pmix.spawned"   /* bool: it was started by PMIx_Spawn */
#define PMIX_PARENT_ID         "pmix.parent"    /* pmix_proc_t*: process that spawned it */
#define PMIX_EXIT_CODE         "pmix.exit.code" /* int: exit status it returned */
#define PMIX_REINCARNATION     "pmix.reinc"     /* uint32_t: times it was restarted */
#define PMIX_SPAWN_TREE_ROOT   "pmix.spwn.root" /* char*: namespace its line of spawns began with */
#define PMIX_SPAWN_TREE_ACTIVE "pmix.spwn.actv" /* uint32_t: processes of that tree still running */

/* Node information */
#define PMIX_NODEID              "pmix.nodeid"     /* uint32_t: number of the node in the session */
#define PMIX_HOSTNAME            "pmix.hname"      /* char*: name of the node */
#define PMIX_HOSTNAME_ALIASES    "pmix.alias"      /* char*: other names of it, separated by commas */
#define PMIX_NODE_SIZE           "pmix.node.size"  /* uint32_t: processes on the node, of all jobs */
#define PMIX_NODE_OVERSUBSCRIBED "pmix.ndosub"     /* bool: more processes than CPUs */
#define PMIX_AVAIL_PHYS_MEMORY   "pmix.pmem"       /* uint64_t: memory of the node, in MB */
#define PMIX_DAEMON_MEMORY       "pmix.dmn.mem"    /* float: memory the server uses, in MB */
#define PMIX_CLIENT_AVG_MEMORY   "pmix.cl.mem.avg" /* float: memory a client uses on average, in MB */
#define PMIX_TOPOLOGY_INDEX      "pmix.topo.index" /* int: number of the node's kind of topology */

/* Realms: kinds of information, and arrays that pass it in */
#define PMIX_SESSION_INFO       "pmix.ssn.info"   /* bool: answer for the session */
#define PMIX_JOB_INFO           "pmix.job.info"   /* bool: answer for the job */
#define PMIX_APP_INFO           "pmix.app.info"   /* bool: answer for an application */
#define PMIX_NODE_INFO          "pmix.node.info"  /* bool: answer for a node */
#define PMIX_SESSION_INFO_ARRAY "pmix.ssn.arr"    /* pmix_info_t[]: about one session, its id first */
#define PMIX_JOB_INFO_ARRAY     "pmix.job.arr"    /* pmix_info_t[]: about one job */
#define PMIX_APP_INFO_ARRAY     "pmix.app.arr"    /* pmix_info_t[]: about one application, its number first */
#define PMIX_PROC_INFO_ARRAY    "pmix.pdata"      /* pmix_info_t[]: about one process, its rank first */
#define PMIX_NODE_INFO_ARRAY    "pmix.node.arr"   /* pmix_info_t[]: about one node, its id or name first */
#define PMIX_SERVER_INFO_ARRAY  "pmix.srv.arr"    /* pmix_info_t[]: about one server */
#define PMIX_REGISTER_NODATA    "pmix.reg.nodata" /* bool: registration brings no data */
#define PMIX_QUALIFIED_VALUE    "pmix.qual.val"   /* pmix_info_t[]: a value, then its qualifiers */

/* Get, fence and connect */
#define PMIX_TIMEOUT                    "pmix.timeout"     /* int: seconds to wait; 0 for ever */
#define PMIX_IMMEDIATE                  "pmix.immediate"   /* bool: answer from the server's present data, do not wait */
#define PMIX_OPTIONAL                   "pmix.optional"    /* bool: look in this process only */
#define PMIX_WAIT                       "pmix.wait"        /* int: number of keys to wait for; 0: all */
#define PMIX_GET_REFRESH_CACHE          "pmix.get.refresh" /* bool: ask the server, though a copy is here */
#define PMIX_GET_STATIC_VALUES          "pmix.get.static"  /* bool: value goes to storage of the caller */
#define PMIX_GET_POINTER_VALUES         "pmix.get.pntrs"   /* bool: value stays the library's, do not free it */
#define PMIX_DATA_SCOPE                 "pmix.scope"       /* pmix_scope_t: scope to look in */
#define PMIX_REQUIRED_KEY               "pmix.req.key"     /* char*: key that is waited for */
#define PMIX_COLLECT_DATA               "pmix.collect"     /* bool: exchange all that was committed */
#define PMIX_COLLECT_GENERATED_JOB_INFO "pmix.collect.gen" /* bool: exchange job data made since the start, too */
#define PMIX_ALL_CLONES_PARTICIPATE     "pmix.clone.part"  /* bool: wait for every clone of a process */
#define PMIX_LOCAL_COLLECTIVE_STATUS    "pmix.loc.col.st"  /* pmix_status_t: result of the collective on this node */
#define PMIX_SORTED_PROC_ARRAY          "pmix.sorted.parr" /* bool: array of participants is sorted */
#define PMIX_LOCAL_PARTICIPANTS         "pmix.lcl.part"    /* pmix_proc_t[]: participants on this node */

/* Publish and look up */
#define PMIX_RANGE              "pmix.range"   /* pmix_data_range_t: processes that may see the data */
#define PMIX_PERSISTENCE        "pmix.persist" /* pmix_persistence_t: lifetime of the data */
#define PMIX_ACCESS_PERMISSIONS "pmix.aperms"  /* pmix_info_t[]: PMIX_ACCESS_USERIDS and PMIX_ACCESS_GRPIDS */
#define PMIX_ACCESS_USERIDS     "pmix.auids"   /* uint32_t[]: users that may read */
#define PMIX_ACCESS_GRPIDS      "pmix.agids"   /* uint32_t[]: groups that may read */

/* Events: handlers, and infos of an event */
#define PMIX_EVENT_HDLR_NAME              "pmix.evname"       /* char*: name of the handler */
#define PMIX_EVENT_HDLR_FIRST             "pmix.evfirst"      /* bool: before all handlers */
#define PMIX_EVENT_HDLR_LAST              "pmix.evlast"       /* bool: after all handlers */
#define PMIX_EVENT_HDLR_FIRST_IN_CATEGORY "pmix.evfirstcat"   /* bool: before all of its category */
#define PMIX_EVENT_HDLR_LAST_IN_CATEGORY  "pmix.evlastcat"    /* bool: after all of its category */
#define PMIX_EVENT_HDLR_BEFORE            "pmix.evbefore"     /* char*: before the handler of this name */
#define PMIX_EVENT_HDLR_AFTER             "pmix.evafter"      /* char*: after the handler of this name */
#define PMIX_EVENT_HDLR_PREPEND           "pmix.evprepend"    /* bool: at the front of its category */
#define PMIX_EVENT_HDLR_APPEND            "pmix.evappend"     /* bool: at the end of its category */
#define PMIX_EVENT_ONESHOT                "pmix.evone"        /* bool: deregister the handler after its first event */
#define PMIX_EVENT_RETURN_OBJECT          "pmix.evobject"     /* void*: handed to the handler */
#define PMIX_EVENT_CUSTOM_RANGE           "pmix.evrange"      /* pmix_proc_t[]: processes to notify */
#define PMIX_EVENT_AFFECTED_PROC          "pmix.evproc"       /* pmix_proc_t*: process the event is about */
#define PMIX_EVENT_AFFECTED_PROCS         "pmix.evaffected"   /* pmix_proc_t[]: processes the event is about */
#define PMIX_EVENT_NON_DEFAULT            "pmix.evnondef"     /* bool: not for default handlers */
#define PMIX_EVENT_DO_NOT_CACHE           "pmix.evnocache"    /* bool: do not keep it for handlers registered later */
#define PMIX_EVENT_STAYS_LOCAL            "pmix.evlocal"      /* bool: do not notify other nodes */
#define PMIX_EVENT_PROXY                  "pmix.evproxy"      /* pmix_proc_t*: process that raised it for the source */
#define PMIX_EVENT_TEXT_MESSAGE           "pmix.evtext"       /* char*: text for the user */
#define PMIX_EVENT_TIMESTAMP              "pmix.evtstamp"     /* time_t: when it happened */
#define PMIX_EVENT_SILENT_TERMINATION     "pmix.evsilentterm" /* bool: raise no event when this job ends */
#define PMIX_EVENT_TERMINATE_SESSION      "pmix.evterm.sess"  /* bool: host will end the session */
#define PMIX_EVENT_TERMINATE_JOB          "pmix.evterm.job"   /* bool: host will end the job */
#define PMIX_EVENT_TERMINATE_NODE         "pmix.evterm.node"  /* bool: host will end all on the node */
#define PMIX_EVENT_TERMINATE_PROC         "pmix.evterm.proc"  /* bool: host will end the process */
#define PMIX_EVENT_ACTION_TIMEOUT         "pmix.evtimeout"    /* int: seconds until the host does so */

/* Ends of jobs and processes */
#define PMIX_NOTIFY_COMPLETION "pmix.notecomp"         /* bool: notify the requestor when the job ends */
#define PMIX_JOB_TERM_STATUS   "pmix.job.term.status"  /* pmix_status_t: status the job ended with */
#define PMIX_PROC_TERM_STATUS  "pmix.proc.term.status" /* pmix_status_t: status the process ended with */
#define PMIX_PROC_STATE_STATUS "pmix.proc.state"       /* pmix_proc_state_t: state the process is in */

/* Spawn: placement of processes */
#define PMIX_PERSONALITY         "pmix.pers"         /* char*: launcher whose meaning the attributes have */
#define PMIX_HOST                "pmix.host"         /* char*: hosts to use, separated by commas */
#define PMIX_HOSTFILE            "pmix.hostfile"     /* char*: file that lists hosts to use */
#define PMIX_ADD_HOST            "pmix.addhost"      /* char*: hosts to add to the allocation, separated by commas */
#define PMIX_ADD_HOSTFILE        "pmix.addhostfile"  /* char*: file that lists hosts to add */
#define PMIX_PREFIX              "pmix.prefix"       /* char*: folder of the program's installation */
#define PMIX_WDIR                "pmix.wdir"         /* char*: working directory */
#define PMIX_WDIR_USER_SPECIFIED "pmix.wdir.user"    /* bool: the user asked for that directory */
#define PMIX_SET_SESSION_CWD     "pmix.ssncwd"       /* bool: start in the session directory */
#define PMIX_PPR                 "pmix.ppr"          /* char*: processes per resource: "2:node" and the like */
#define PMIX_MAPBY               "pmix.mapby"        /* char*: placement of processes on nodes */
#define PMIX_RANKBY              "pmix.rankby"       /* char*: assignment of ranks */
#define PMIX_BINDTO              "pmix.bindto"       /* char*: objects to bind processes to */
#define PMIX_CPUS_PER_PROC       "pmix.cpuperproc"   /* uint32_t: CPUs for each process */
#define PMIX_CPU_LIST            "pmix.cpulist"      /* char*: CPUs to use */
#define PMIX_NO_PROCS_ON_HEAD    "pmix.nolocal"      /* bool: no processes on the launcher's node */
#define PMIX_NO_OVERSUBSCRIBE    "pmix.noover"       /* bool: no more processes than slots */
#define PMIX_COLOCATE_PROCS      "pmix.colproc"      /* pmix_proc_t[]: start next to these */
#define PMIX_COLOCATE_NPERPROC   "pmix.colnum.proc"  /* uint16_t: processes next to each of them */
#define PMIX_COLOCATE_NPERNODE   "pmix.colnum.node"  /* uint16_t: processes on each of their nodes */
#define PMIX_PRELOAD_BIN         "pmix.preloadbin"   /* bool: copy the program to the nodes */
#define PMIX_PRELOAD_FILES       "pmix.preloadfiles" /* char*: files to copy, separated by commas */
#define PMIX_INDEX_ARGV          "pmix.indxargv"     /* bool: add the rank to argv[0] */
#define PMIX_COSPAWN_APP         "pmix.cospawn"      /* bool: application is extra, not part of the job proper */
#define PMIX_DEBUGGER_DAEMONS    "pmix.debugger"     /* bool: application is made of debugger daemons */
#define PMIX_SPAWN_TOOL          "pmix.spwn.tool"    /* bool: job is a tool */
#define PMIX_SPAWN_TARGET        "pmix.spwn.tgt"     /* varies: place to run the job; the form depends on the host */
#define PMIX_DO_NOT_LAUNCH       "pmix.dnl"          /* bool: map only */

/* Spawn: environment */
#define PMIX_SET_ENVAR        "pmix.envar.set"    /* pmix_envar_t*: set, replacing */
#define PMIX_ADD_ENVAR        "pmix.envar.add"    /* pmix_envar_t*: set, unless it is there */
#define PMIX_UNSET_ENVAR      "pmix.envar.unset"  /* char*: remove */
#define PMIX_PREPEND_ENVAR    "pmix.envar.prepnd" /* pmix_envar_t*: put before the present value */
#define PMIX_APPEND_ENVAR     "pmix.envar.appnd"  /* pmix_envar_t*: put after the present value */
#define PMIX_FIRST_ENVAR      "pmix.envar.first"  /* pmix_envar_t*: put first, removing it from its later places */
#define PMIX_FWD_ENVIRONMENT  "pmix.fwdenv"       /* bool: forward the whole environment */
#define PMIX_ENVARS_HARVESTED "pmix.evar.hvstd"   /* bool: launcher has gathered the environment already */

/* Spawn: recovery and limits */
#define PMIX_JOB_RECOVERABLE      "pmix.recover"     /* bool: job can go on after a failure */
#define PMIX_JOB_CONTINUOUS       "pmix.continuous"  /* bool: job goes on without the failed process */
#define PMIX_MAX_RESTARTS         "pmix.maxrestarts" /* uint32_t: times a process is restarted */
#define PMIX_ABORT_NON_ZERO_TERM  "pmix.abnz"        /* bool: end the job if a process returns non-zero */
#define PMIX_JOB_TIMEOUT          "pmix.job.time"    /* int: seconds the job may run */
#define PMIX_SPAWN_TIMEOUT        "pmix.sp.time"     /* int: seconds the launch may take */
#define PMIX_TIMEOUT_STACKTRACES  "pmix.tim.stack"   /* bool: print stack traces on a timeout */
#define PMIX_TIMEOUT_REPORT_STATE "pmix.tim.state"   /* bool: print states of processes on a timeout */
#define PMIX_RUNTIME_OPTIONS      "pmix.runopt"      /* char*: options for the launcher, separated by commas */
#define PMIX_REPORT_CHILD_SEP     "pmix.rptchildsep" /* bool: count children of the job as jobs of their own */
#define PMIX_SPAWN_CHILD_SEP      "pmix.spchildsep"  /* bool: spawned job outlives its parent */
#define PMIX_NOHUP                "pmix.nohup"       /* bool: job goes on when the tool ends */

/* Spawn: agents that take part */
#define PMIX_FORKEXEC_AGENT    "pmix.fe.agnt"   /* char*: program that starts the processes on a node */
#define PMIX_EXEC_AGENT        "pmix.exec.agnt" /* char*: program that starts the application */
#define PMIX_LAUNCHER_DAEMON   "pmix.lnch.dmn"  /* char*: program to use as the launcher's daemon */
#define PMIX_LAUNCH_DIRECTIVES "pmix.lnch.dirs" /* pmix_info_t[]: for the launcher's own spawn */

/* Spawn: display and notifications */
#define PMIX_DISPLAY_MAP                      "pmix.dispmap"      /* bool: show the map */
#define PMIX_DISPLAY_MAP_DETAILED             "pmix.dispmapdet"   /* bool: show the map with all details */
#define PMIX_DISPLAY_ALLOCATION               "pmix.dispalloc"    /* bool: show the allocation */
#define PMIX_DISPLAY_TOPOLOGY                 "pmix.disptopo"     /* char*: show topologies of these nodes */
#define PMIX_DISPLAY_PROCESSORS               "pmix.dispcpus"     /* char*: show CPUs of these nodes */
#define PMIX_DISPLAY_PARSEABLE_OUTPUT         "pmix.dispparse"    /* bool: show these in a form for programs */
#define PMIX_REPORT_BINDINGS                  "pmix.repbind"      /* bool: show the binding of each process */
#define PMIX_REPORT_PHYSICAL_CPUS             "pmix.repphys.cpus" /* bool: with physical numbers */
#define PMIX_SHOW_LAUNCH_PROGRESS             "pmix.showprog"     /* bool: show the progress of the launch */
#define PMIX_AGGREGATE_HELP                   "pmix.agg.help"     /* bool: show equal messages once */
#define PMIX_NOTIFY_JOB_EVENTS                "pmix.note.jev"     /* bool: notify of start, end and errors of the job */
#define PMIX_NOTIFY_PROC_TERMINATION          "pmix.noteproc"     /* bool: notify of the end of each process */
#define PMIX_NOTIFY_PROC_ABNORMAL_TERMINATION "pmix.noteabproc"   /* bool: notify of each process that fails */
#define PMIX_LOG_PROC_TERMINATION             "pmix.logproc"      /* bool: log the end of each process */
#define PMIX_LOG_PROC_ABNORMAL_TERMINATION    "pmix.logabproc"    /* bool: log each that ends badly */
#define PMIX_LOG_JOB_EVENTS                   "pmix.log.jev"      /* bool: log start, end and errors of the job */
#define PMIX_LOG_COMPLETION                   "pmix.logcomp"      /* bool: log the end of the job */

/* Forwarding of input and output */
#define PMIX_STDIN_TGT               "pmix.stdin"       /* pmix_proc_t*: process that gets the input */
#define PMIX_FWD_STDIN               "pmix.fwd.stdin"   /* bool: forward the tool's input to the job */
#define PMIX_FWD_STDOUT              "pmix.fwd.stdout"  /* bool: forward the job's output to the tool */
#define PMIX_FWD_STDERR              "pmix.fwd.stderr"  /* bool: forward the job's errors to the tool */
#define PMIX_FWD_STDDIAG             "pmix.fwd.stddiag" /* bool: forward the job's diagnostics to the tool */
#define PMIX_SPAWN_PTY               "pmix.spawn.pty"   /* bool: give processes a terminal */
#define PMIX_PTY_TERMIO              "pmix.pty.termio"  /* pmix_byte_object_t: its settings, a struct termios */
#define PMIX_PTY_WSIZE               "pmix.pty.wsize"   /* pmix_byte_object_t: its size, a struct winsize */
#define PMIX_IOF_CACHE_SIZE          "pmix.iof.csize"   /* uint32_t: bytes kept until a process wants them */
#define PMIX_IOF_DROP_OLDEST         "pmix.iof.old"     /* bool: when that is full, drop the oldest */
#define PMIX_IOF_DROP_NEWEST         "pmix.iof.new"     /* bool: when that is full, drop the newest */
#define PMIX_IOF_BUFFERING_SIZE      "pmix.iof.bsize"   /* uint32_t: bytes to gather before passing on */
#define PMIX_IOF_BUFFERING_TIME      "pmix.iof.btime"   /* uint32_t: seconds to gather before passing on */
#define PMIX_IOF_COMPLETE            "pmix.iof.cmp"     /* bool: no more will come */
#define PMIX_IOF_PUSH_STDIN          "pmix.iof.stdin"   /* bool: take the tool's own input */
#define PMIX_IOF_TAG_OUTPUT          "pmix.iof.tag"     /* bool: mark lines with channel and rank */
#define PMIX_IOF_TAG_DETAILED_OUTPUT "pmix.iof.tagdet"  /* bool: mark lines with host and pid too */
#define PMIX_IOF_TAG_FULLNAME_OUTPUT "pmix.iof.tagfull" /* bool: mark lines with the full namespace */
#define PMIX_IOF_RANK_OUTPUT         "pmix.iof.rank"    /* bool: mark lines with the rank */
#define PMIX_IOF_TIMESTAMP_OUTPUT    "pmix.iof.ts"      /* bool: mark lines with the time */
#define PMIX_IOF_XML_OUTPUT          "pmix.iof.xml"     /* bool: write as XML */
#define PMIX_IOF_MERGE_STDERR_STDOUT "pmix.iof.mrg"     /* bool: send errors to the same place as output */
#define PMIX_IOF_OUTPUT_TO_FILE      "pmix.iof.file"    /* char*: into a file of this name for each process */
#define PMIX_IOF_FILE_PATTERN        "pmix.iof.fpt"     /* bool: that name holds %n, %r and the like */
#define PMIX_IOF_OUTPUT_TO_DIRECTORY "pmix.iof.dir"     /* char*: into files in this directory */
#define PMIX_IOF_FILE_ONLY           "pmix.iof.fonly"   /* bool: into files only, not to the tool too */
#define PMIX_IOF_COPY                "pmix.iof.cpy"     /* bool: tool gets a copy, the stream goes on as it was */
#define PMIX_IOF_REDIRECT            "pmix.iof.redir"   /* bool: tool gets the stream instead */
#define PMIX_IOF_LOCAL_OUTPUT        "pmix.iof.local"   /* bool: write to the server's own streams */
#define PMIX_IOF_OUTPUT_RAW          "pmix.iof.raw"     /* bool: as it comes, not by lines */
#define PMIX_IOF_INHERIT             "pmix.iof.inhrt"   /* bool: spawned jobs are treated as their parents */

/* Queries */
#define PMIX_QUERY_SUPPORTED_KEYS          "pmix.qry.keys"         /* char*: keys that are answered, by commas */
#define PMIX_QUERY_SUPPORTED_QUALIFIERS    "pmix.qry.quals"        /* bool: qualifiers of a key; newer: "pmix.qry.supqual" */
#define PMIX_QUERY_NAMESPACES              "pmix.qry.ns"           /* char*: namespaces running, by commas */
#define PMIX_QUERY_NAMESPACE_INFO          "pmix.qry.nsinfo"       /* pmix_data_array_t[]: infos of each namespace */
#define PMIX_QUERY_JOB_STATUS              "pmix.qry.jst"          /* pmix_status_t: state of a job */
#define PMIX_QUERY_QUEUE_LIST              "pmix.qry.qlst"         /* char*: queues of the scheduler, by commas */
#define PMIX_QUERY_QUEUE_STATUS            "pmix.qry.qst"          /* pmix_info_t[]: state of a queue */
#define PMIX_QUERY_PROC_TABLE              "pmix.qry.ptable"       /* pmix_proc_info_t[]: processes of a job */
#define PMIX_QUERY_LOCAL_PROC_TABLE        "pmix.qry.lptable"      /* pmix_proc_info_t[]: processes on this node */
#define PMIX_QUERY_AUTHORIZATIONS          "pmix.qry.auths"        /* pmix_info_t[]: operations that the requestor may use */
#define PMIX_QUERY_SPAWN_SUPPORT           "pmix.qry.spawn"        /* char*: attributes of spawn the host knows, by commas */
#define PMIX_QUERY_DEBUG_SUPPORT           "pmix.qry.debug"        /* char*: attributes of debugging it knows, by commas */
#define PMIX_QUERY_MEMORY_USAGE            "pmix.qry.mem"          /* pmix_info_t[]: memory used by its processes */
#define PMIX_QUERY_ALLOC_STATUS            "pmix.query.alloc"      /* char*: state of an allocation */
#define PMIX_QUERY_ALLOCATION              "pmix.query.allc"       /* pmix_info_t[]: resources of an allocation */
#define PMIX_QUERY_ALLOC_IDS               "pmix.query.alloc.ids"  /* char*[]: allocations of the requestor */
#define PMIX_QUERY_ALLOC_PROPERTIES        "pmix.query.alloc.prop" /* pmix_info_t[]: properties of allocations */
#define PMIX_TIME_REMAINING                "pmix.time.remaining"   /* uint32_t: seconds the allocation has left */
#define PMIX_QUERY_AVAIL_SERVERS           "pmix.qry.asrvrs"       /* pmix_info_t[]: servers a tool may connect to */
#define PMIX_QUERY_AVAILABLE_SLOTS         "pmix.qry.aslots"       /* uint32_t: slots that are free */
#define PMIX_QUERY_MIN_ALLOC_UNIT          "pmix.qry.minau"        /* pmix_info_t[]: least that can be allocated */
#define PMIX_QUERY_RES_BLOCKS              "pmix.qry.resblks"      /* char*[]: resource blocks that are defined */
#define PMIX_QUERY_RES_BLOCK_DEF           "pmix.qry.resdef"       /* pmix_resource_unit_t[]: units of a block */
#define PMIX_QUERY_DEVICES                 "pmix.qry.dev"          /* pmix_device_t[]: devices of a node */
#define PMIX_QUERY_RESOLVE_PEERS           "pmix.qry.peers"        /* pmix_proc_t[]: as PMIx_Resolve_peers */
#define PMIX_QUERY_RESOLVE_NODE            "pmix.qry.node"         /* char*: as PMIx_Resolve_nodes */
#define PMIX_QUERY_PROC_RESOURCE_USAGE     "pmix.qry.pres"         /* pmix_proc_t*: resource usage of this process */
#define PMIX_QUERY_NODE_RESOURCE_USAGE     "pmix.qry.nres"         /* char*: resource usage of this node */
#define PMIX_QUERY_STORAGE_LIST            "pmix.strg.list"        /* char*: storage systems, by commas */
#define PMIX_QUERY_STABLE_ABI_VERSION      "pmix.qry.stabiver"     /* char*: stable ABI the library offers */
#define PMIX_QUERY_PROVISIONAL_ABI_VERSION "pmix.qry.prabiver"     /* char*: provisional ABI it offers */

/* Queries about process sets and groups */
#define PMIX_QUERY_NUM_PSETS        "pmix.qry.psetnum"  /* size_t: number of process sets */
#define PMIX_QUERY_PSET_NAMES       "pmix.qry.psets"    /* char*: their names, separated by commas */
#define PMIX_QUERY_PSET_MEMBERSHIP  "pmix.qry.pmems"    /* pmix_proc_t[]: members of a set */
#define PMIX_QUERY_NUM_GROUPS       "pmix.qry.pgrpnum"  /* size_t: number of groups */
#define PMIX_QUERY_GROUP_NAMES      "pmix.qry.pgrp"     /* char*[]: their names */
#define PMIX_QUERY_GROUP_MEMBERSHIP "pmix.qry.pgrpmems" /* pmix_proc_t[]: members of a group */

/* Queries about support of attributes and functions */
#define PMIX_QUERY_ATTRIBUTE_SUPPORT "pmix.qry.attrs"    /* pmix_regattr_t[]: of functions named in qualifiers */
#define PMIX_CLIENT_FUNCTIONS        "pmix.client.fns"   /* char*: functions the client library has, by commas */
#define PMIX_SERVER_FUNCTIONS        "pmix.srvr.fns"     /* char*: functions the server library has, by commas */
#define PMIX_TOOL_FUNCTIONS          "pmix.tool.fns"     /* char*: functions the tool library has, by commas */
#define PMIX_HOST_FUNCTIONS          "pmix.host.fns"     /* char*: functions the host has, by commas */
#define PMIX_CLIENT_ATTRIBUTES       "pmix.client.attrs" /* char*: functions whose attributes in the client are wanted */
#define PMIX_SERVER_ATTRIBUTES       "pmix.srvr.attrs"   /* char*: functions whose attributes in the server are wanted */
#define PMIX_TOOL_ATTRIBUTES         "pmix.tool.attrs"   /* char*: functions whose attributes in the tool are wanted */
#define PMIX_HOST_ATTRIBUTES         "pmix.host.attrs"   /* char*: functions whose attributes in the host are wanted */
#define PMIX_MAX_VALUE               "pmix.descr.maxval" /* varies: greatest value an attribute takes */
#define PMIX_MIN_VALUE               "pmix.descr.minval" /* varies: least value an attribute takes */
#define PMIX_ENUM_VALUE              "pmix.descr.enum"   /* char*: values it takes, separated by commas */

/* Qualifiers of a query, and forms of results */
#define PMIX_QUERY_REFRESH_CACHE "pmix.qry.rfsh"   /* bool: ask the server, though a copy is here */
#define PMIX_QUERY_LOCAL_ONLY    "pmix.qry.local"  /* bool: this node only */
#define PMIX_QUERY_REPORT_AVG    "pmix.qry.avg"    /* bool: averages */
#define PMIX_QUERY_REPORT_MINMAX "pmix.qry.minmax" /* bool: least and greatest */
#define PMIX_QUERY_QUALIFIERS    "pmix.qry.quals"  /* pmix_info_t[]: the query's, with its results */
#define PMIX_QUERY_RESULTS       "pmix.qry.res"    /* pmix_info_t[]: one query's results */

/* Logging */
#define PMIX_LOG_SOURCE             "pmix.log.source"   /* pmix_proc_t*: process the data comes from */
#define PMIX_LOG_STDERR             "pmix.log.stderr"   /* char*: to the standard error */
#define PMIX_LOG_STDOUT             "pmix.log.stdout"   /* char*: to the standard output */
#define PMIX_LOG_SYSLOG             "pmix.log.syslog"   /* char*: to the syslog; the global one if it exists */
#define PMIX_LOG_LOCAL_SYSLOG       "pmix.log.lsys"     /* char*: to this node's syslog */
#define PMIX_LOG_GLOBAL_SYSLOG      "pmix.log.gsys"     /* char*: to the central syslog */
#define PMIX_LOG_SYSLOG_PRI         "pmix.log.syspri"   /* int: priority for the syslog */
#define PMIX_LOG_TIMESTAMP          "pmix.log.tstmp"    /* time_t: time of the message */
#define PMIX_LOG_GENERATE_TIMESTAMP "pmix.log.gtstmp"   /* bool: take the time of the call */
#define PMIX_LOG_TAG_OUTPUT         "pmix.log.tag"      /* bool: mark lines with channel and source */
#define PMIX_LOG_TIMESTAMP_OUTPUT   "pmix.log.tsout"    /* bool: mark lines with the time */
#define PMIX_LOG_XML_OUTPUT         "pmix.log.xml"      /* bool: write as XML */
#define PMIX_LOG_ONCE               "pmix.log.once"     /* bool: to one place, the first that can be had */
#define PMIX_LOG_MSG                "pmix.log.msg"      /* pmix_byte_object_t: message to send */
#define PMIX_LOG_KEY                "pmix.log.key"      /* char*: topic of a message that may be joined */
#define PMIX_LOG_VAL                "pmix.log.val"      /* char*: text for the topic PMIX_LOG_KEY */
#define PMIX_LOG_AGG                "pmix.log.agg"      /* bool: join equal messages */
#define PMIX_LOG_EMAIL              "pmix.log.email"    /* pmix_info_t[]: by mail, with the following */
#define PMIX_LOG_EMAIL_ADDR         "pmix.log.emaddr"   /* char*: addresses, separated by commas */
#define PMIX_LOG_EMAIL_SENDER_ADDR  "pmix.log.emfaddr"  /* char*: sender's address */
#define PMIX_LOG_EMAIL_SUBJECT      "pmix.log.emsub"    /* char*: subject */
#define PMIX_LOG_EMAIL_MSG          "pmix.log.emmsg"    /* char*: text */
#define PMIX_LOG_EMAIL_SERVER       "pmix.log.esrvr"    /* char*: host of the mail server */
#define PMIX_LOG_EMAIL_SRVR_PORT    "pmix.log.esrvrprt" /* int32_t: its port */
#define PMIX_LOG_GLOBAL_DATASTORE   "pmix.log.gstore"   /* bool: into the global store */
#define PMIX_LOG_JOB_RECORD         "pmix.log.jrec"     /* bool: into the job's record */

/* Debugging */
#define PMIX_DEBUG_STOP_ON_EXEC     "pmix.dbg.exec"   /* varies: stop at start: bool for all, or a rank */
#define PMIX_DEBUG_STOP_IN_INIT     "pmix.dbg.init"   /* varies: stop in PMIx_Init: bool for all, or a rank */
#define PMIX_DEBUG_STOP_IN_APP      "pmix.dbg.notify" /* varies: stop where the program asks: bool for all, or a rank */
#define PMIX_BREAKPOINT             "pmix.brkpnt"     /* char*: name of the place it stopped at */
#define PMIX_DEBUG_TARGET           "pmix.dbg.tgt"    /* pmix_proc_t*: job or process to be debugged */
#define PMIX_DEBUG_DAEMONS_PER_PROC "pmix.dbg.dpproc" /* uint16_t: debugger daemons for each process */
#define PMIX_DEBUG_DAEMONS_PER_NODE "pmix.dbg.dpnd"   /* uint16_t: debugger daemons on each node */

/* Allocation */
#define PMIX_ALLOC_REQ_ID         "pmix.alloc.reqid"      /* char*: name the requestor gives to the request */
#define PMIX_ALLOC_ID             "pmix.alloc.id"         /* char*: name the host gives to the allocation */
#define PMIX_ALLOC_PROPERTY       "pmix.alloc.property"   /* char*: a property it shall have */
#define PMIX_ALLOC_RELEASABLE     "pmix.alloc.releasable" /* bool: it may be given back in parts */
#define PMIX_ALLOC_NUM_NODES      "pmix.alloc.nnodes"     /* uint64_t: nodes */
#define PMIX_ALLOC_NODE_LIST      "pmix.alloc.nlist"      /* char*: these nodes */
#define PMIX_ALLOC_EXCLUDE        "pmix.alloc.exclude"    /* char*: not these nodes */
#define PMIX_ALLOC_NUM_CPUS       "pmix.alloc.ncpus"      /* uint64_t: CPUs */
#define PMIX_ALLOC_NUM_CPU_LIST   "pmix.alloc.ncpulist"   /* char*: CPUs on each node, separated by commas */
#define PMIX_ALLOC_CPU_LIST       "pmix.alloc.cpulist"    /* char*: these CPUs */
#define PMIX_ALLOC_MEM_SIZE       "pmix.alloc.msize"      /* float: MB of memory */
#define PMIX_ALLOC_TIME           "pmix.alloc.time"       /* char*: time wanted; a uint32_t of seconds before 5.0 */
#define PMIX_ALLOC_WARN_TIMEOUT   "pmix.alloc.wtmo"       /* uint32_t: seconds before its end to warn */
#define PMIX_ALLOC_QUEUE          "pmix.alloc.queue"      /* char*: queue to use */
#define PMIX_ALLOC_PREEMPTIBLE    "pmix.alloc.preempt"    /* bool: it may be preempted */
#define PMIX_ALLOC_LEND           "pmix.alloc.lend"       /* char*: lend it to another */
#define PMIX_ALLOC_IMAGE          "pmix.alloc.image"      /* char*: image to boot the nodes with */
#define PMIX_ALLOC_WAIT_ALL_NODES "pmix.alloc.waitall"    /* bool: answer when all nodes are ready */
#define PMIX_ALLOC_SHARE          "pmix.alloc.share"      /* bool: nodes may be shared */
#define PMIX_ALLOC_NOSHELL        "pmix.alloc.noshell"    /* bool: start no shell */
#define PMIX_ALLOC_DEPENDENCY     "pmix.alloc.depend"     /* char*: dependencies of the request */
#define PMIX_ALLOC_BEGIN          "pmix.alloc.begin"      /* char*: not before this time */
#define PMIX_ALLOC_NOT_WAITING    "pmix.alloc.notwait"    /* bool: fail if it cannot be had at once */
#define PMIX_ALLOC_RES_BLOCK      "pmix.alloc.blk"        /* char*: kind of resource block */
#define PMIX_ALLOC_NUM_BLOCKS     "pmix.alloc.nblks"      /* uint64_t: number of such blocks */
#define PMIX_ALLOC_MAU            "pmix.alloc.mau"        /* pmix_info_t[]: least unit of the allocation */
#define PMIX_ALLOC_CHILD_SEP      "pmix.alloc.sep"        /* bool: children outlive it */
#define PMIX_ALLOC_STATUS         "pmix.alloc.status"     /* pmix_status_t: result of the request */
#define PMIX_ALLOC_TARGET         "pmix.alloc.tgt"        /* char*: allocation the request is about */
#define PMIX_ALLOC_INHERITANCE    "pmix.alloc.inhrt"      /* pmix_alloc_inheritance_t: heir of the allocation */
#define PMIX_RESOURCE_BLOCK_NAME  "pmix.resblkname"       /* char*: name of a resource block */

/* Allocation of fabric resources */
#define PMIX_ALLOC_FABRIC             "pmix.alloc.net"       /* pmix_info_t[]: fabric resources, with the following */
#define PMIX_ALLOC_FABRIC_ID          "pmix.alloc.netid"     /* char*: name the requestor gives them */
#define PMIX_ALLOC_FABRIC_TYPE        "pmix.alloc.nettype"   /* char*: transport, e.g. "tcp" */
#define PMIX_ALLOC_FABRIC_PLANE       "pmix.alloc.netplane"  /* char*: plane of the fabric */
#define PMIX_ALLOC_FABRIC_QOS         "pmix.alloc.netqos"    /* char*: quality of service */
#define PMIX_ALLOC_FABRIC_ENDPTS      "pmix.alloc.endpts"    /* size_t: endpoints for each process */
#define PMIX_ALLOC_FABRIC_ENDPTS_NODE "pmix.alloc.endpts.nd" /* size_t: endpoints for each node */
#define PMIX_ALLOC_FABRIC_SEC_KEY     "pmix.alloc.nsec"      /* pmix_byte_object_t: security key for the job */
#define PMIX_ALLOC_BANDWIDTH          "pmix.alloc.bw"        /* float: Mbit/s */

/* Application set-up */
#define PMIX_SETUP_APP_ENVARS    "pmix.setup.env"  /* bool: gather environment variables */
#define PMIX_SETUP_APP_NONENVARS "pmix.setup.nenv" /* bool: gather everything else */
#define PMIX_SETUP_APP_ALL       "pmix.setup.all"  /* bool: gather all */

/* Job control */
#define PMIX_JOB_CTRL_ID                 "pmix.jctrl.id"       /* char*: name the requestor gives to the request */
#define PMIX_JOB_CTRL_PAUSE              "pmix.jctrl.pause"    /* bool: pause */
#define PMIX_JOB_CTRL_RESUME             "pmix.jctrl.resume"   /* bool: go on */
#define PMIX_JOB_CTRL_CANCEL             "pmix.jctrl.cancel"   /* char*: take back this request; empty for all */
#define PMIX_JOB_CTRL_KILL               "pmix.jctrl.kill"     /* bool: end at once */
#define PMIX_JOB_CTRL_TERMINATE          "pmix.jctrl.term"     /* bool: end politely */
#define PMIX_JOB_CTRL_SIGNAL             "pmix.jctrl.sig"      /* int: send this signal */
#define PMIX_JOB_CTRL_RESTART            "pmix.jctrl.restart"  /* char*: restart from this checkpoint */
#define PMIX_JOB_CTRL_CHECKPOINT         "pmix.jctrl.ckpt"     /* char*: checkpoint under this name */
#define PMIX_JOB_CTRL_CHECKPOINT_EVENT   "pmix.jctrl.ckptev"   /* bool: notify the processes by an event */
#define PMIX_JOB_CTRL_CHECKPOINT_SIGNAL  "pmix.jctrl.ckptsig"  /* int: notify the processes by this signal */
#define PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT "pmix.jctrl.ckptsig"  /* int: seconds to wait; newer: "pmix.jctrl.ckpttime" */
#define PMIX_JOB_CTRL_CHECKPOINT_METHOD  "pmix.jctrl.ckmethod" /* pmix_info_t[]: ways it can be checkpointed */
#define PMIX_JOB_CTRL_PROVISION          "pmix.jctrl.pvn"      /* char*: nodes to be provisioned */
#define PMIX_JOB_CTRL_PROVISION_IMAGE    "pmix.jctrl.pvnimg"   /* char*: image to do that with */
#define PMIX_JOB_CTRL_PREEMPTIBLE        "pmix.jctrl.preempt"  /* bool: job may be preempted */
#define PMIX_JOB_CTRL_DEFINE_PSET        "pmix.jctrl.defpset"  /* char*: define a process set of this name */
#define PMIX_JOB_CTRL_SEP                "pmix.jctrl.sep"      /* bool: apply to the job's children as well */

/* Clean-up after a process */
#define PMIX_REGISTER_CLEANUP     "pmix.reg.cleanup"    /* char*: files to remove, separated by commas */
#define PMIX_REGISTER_CLEANUP_DIR "pmix.reg.cleanupdir" /* char*: directories to remove, separated by commas */
#define PMIX_CLEANUP_RECURSIVE    "pmix.clnup.recurse"  /* bool: with all below them */
#define PMIX_CLEANUP_EMPTY        "pmix.clnup.empty"    /* bool: only empty ones */
#define PMIX_CLEANUP_IGNORE       "pmix.clnup.ignore"   /* char*: files to leave, separated by commas */
#define PMIX_CLEANUP_LEAVE_TOPDIR "pmix.clnup.lvtop"    /* bool: leave the directory itself */

/* Sessions */
#define PMIX_SESSION_CTRL_ID         "pmix.ssnctrl.id"    /* char*: name the requestor gives to the request */
#define PMIX_SESSION_INSTANTIATE     "pmix.ssn.inst"      /* bool: make the session */
#define PMIX_SESSION_RESOURCES       "pmix.ssn.res"       /* pmix_info_t[]: its resources */
#define PMIX_SESSION_JOB             "pmix.ssn.job"       /* pmix_info_t[]: job to start in it */
#define PMIX_SESSION_APP             "pmix.ssn.app"       /* pmix_app_t[]: applications of that job */
#define PMIX_SESSION_PROVISION       "pmix.ssn.pvn"       /* pmix_info_t[]: its provisioning; not in 6.1 */
#define PMIX_SESSION_PROVISION_NODES "pmix.ssn.pvnnds"    /* char*: nodes to provision */
#define PMIX_SESSION_PROVISION_IMAGE "pmix.ssn.pvnimg"    /* char*: image to do that with */
#define PMIX_SESSION_PAUSE           "pmix.ssn.pause"     /* bool: pause all in it */
#define PMIX_SESSION_RESUME          "pmix.ssn.resume"    /* bool: go on */
#define PMIX_SESSION_TERMINATE       "pmix.ssn.terminate" /* bool: end it and all in it */
#define PMIX_SESSION_PREEMPT         "pmix.ssn.preempt"   /* bool: preempt it */
#define PMIX_SESSION_RESTORE         "pmix.ssn.restore"   /* bool: bring it back */
#define PMIX_SESSION_SIGNAL          "pmix.ssn.sig"       /* int: send this signal to all in it */
#define PMIX_SESSION_SEP             "pmix.ssn.sep"       /* bool: children of the session outlive it */
#define PMIX_SESSION_EXTEND          "pmix.ssn.xtend"     /* bool: extend it */
#define PMIX_SESSION_COMPLETE        "pmix.ssn.complete"  /* bool: it has ended */

/* Monitoring */
#define PMIX_MONITOR_ID                  "pmix.monitor.id"        /* char*: name the requestor gives to the request */
#define PMIX_MONITOR_PROXY               "pmix.monitor.proxy"     /* pmix_proc_t*: process that asks for another */
#define PMIX_MONITOR_CANCEL              "pmix.monitor.cancel"    /* char*: take back this request; empty for all */
#define PMIX_MONITOR_APP_CONTROL         "pmix.monitor.appctrl"   /* bool: program reacts itself */
#define PMIX_MONITOR_HEARTBEAT           "pmix.monitor.mbeat"     /* bool: expect heartbeats */
#define PMIX_SEND_HEARTBEAT              "pmix.monitor.beat"      /* bool: one heartbeat */
#define PMIX_MONITOR_HEARTBEAT_TIME      "pmix.monitor.btime"     /* uint32_t: seconds between checks */
#define PMIX_MONITOR_HEARTBEAT_DROPS     "pmix.monitor.bdrop"     /* uint32_t: number of heartbeats that may be missed */
#define PMIX_MONITOR_FILE                "pmix.monitor.fmon"      /* char*: watch this file */
#define PMIX_MONITOR_FILE_SIZE           "pmix.monitor.fsize"     /* bool: for growth */
#define PMIX_MONITOR_FILE_ACCESS         "pmix.monitor.faccess"   /* char*: for being read */
#define PMIX_MONITOR_FILE_MODIFY         "pmix.monitor.fmod"      /* char*: for being written */
#define PMIX_MONITOR_FILE_CHECK_TIME     "pmix.monitor.ftime"     /* uint32_t: seconds between checks */
#define PMIX_MONITOR_FILE_DROPS          "pmix.monitor.fdrop"     /* uint32_t: checks without change allowed */
#define PMIX_MONITOR_RESOURCE_RATE       "pmix.monitor.resrate"   /* uint32_t: seconds between reports of usage */
#define PMIX_MONITOR_PROC_RESOURCE_USAGE "pmix.monitor.presuse"   /* pmix_info_t[]: report usage by processes */
#define PMIX_MONITOR_NODE_RESOURCE_USAGE "pmix.monitor.ndresuse"  /* pmix_info_t[]: report usage by nodes */
#define PMIX_MONITOR_DISK_RESOURCE_USAGE "pmix.monitor.dkresuse"  /* pmix_info_t[]: report usage of disks */
#define PMIX_MONITOR_NET_RESOURCE_USAGE  "pmix.monitor.netresuse" /* pmix_info_t[]: report usage of networks */
#define PMIX_MONITOR_TARGET_PROCS        "pmix.monitor.tgtproc"   /* pmix_proc_t[]: of these processes */
#define PMIX_MONITOR_TARGET_PIDS         "pmix.monitor.tgtpid"    /* pmix_node_pid_t[]: of these processes */
#define PMIX_MONITOR_TARGET_NODES        "pmix.monitor.tgtnode"   /* char*[]: of these nodes */
#define PMIX_MONITOR_TARGET_NODEIDS      "pmix.monitor.tgtndids"  /* uint32_t[]: of these nodes */
#define PMIX_MONITOR_TARGET_DISKS        "pmix.monitor.tgtdks"    /* char*[]: of these disks */
#define PMIX_MONITOR_TARGET_NETS         "pmix.monitor.tgtnets"   /* char*[]: of these interfaces */
#define PMIX_MONITOR_LOCAL_ONLY          "pmix.monitor.local"     /* bool: on this node only */

/* Resource usage of processes */
#define PMIX_PROC_RESOURCE_USAGE "pmix.proc.res"      /* pmix_info_t[]: the following, of one process */
#define PMIX_PROC_OS_STATE       "pmix.proc.osstate"  /* char*: state letter of the operating system */
#define PMIX_PROC_TIME           "pmix.proc.time"     /* struct timeval: CPU time used */
#define PMIX_PROC_PERCENT_CPU    "pmix.proc.pcpu"     /* float: share of a CPU, in percent */
#define PMIX_PROC_PRIORITY       "pmix.proc.pri"      /* int32_t: priority */
#define PMIX_PROC_NUM_THREADS    "pmix.proc.nthr"     /* uint16_t: threads */
#define PMIX_PROC_PSS            "pmix.proc.pss"      /* float: proportional set size, in MB */
#define PMIX_PROC_VSIZE          "pmix.proc.vsize"    /* float: virtual size, in MB */
#define PMIX_PROC_RSS            "pmix.proc.rss"      /* float: resident set size, in MB */
#define PMIX_PROC_PEAK_VSIZE     "pmix.proc.pkvsize"  /* float: greatest virtual size, in MB */
#define PMIX_PROC_CPU            "pmix.proc.cpu"      /* uint16_t: CPU it last ran on */
#define PMIX_PROC_SAMPLE_TIME    "pmix.proc.samptime" /* time_t: when this was taken */

/* Resource usage of disks */
#define PMIX_DISK_RESOURCE_USAGE  "pmix.disk.res"      /* pmix_info_t[]: the following, of one disk */
#define PMIX_DISK_ID              "pmix.disk.id"       /* char*: name of the disk */
#define PMIX_DISK_READ_COMPLETED  "pmix.disk.rdscomp"  /* uint64_t: reads done */
#define PMIX_DISK_READ_MERGED     "pmix.disk.rdsmrgd"  /* uint64_t: reads joined with others */
#define PMIX_DISK_READ_SECTORS    "pmix.disk.rdsct"    /* uint64_t: sectors read */
#define PMIX_DISK_READ_MILLISEC   "pmix.disk.rdms"     /* uint64_t: milliseconds spent reading */
#define PMIX_DISK_WRITE_COMPLETED "pmix.disk.wtscomp"  /* uint64_t: writes done */
#define PMIX_DISK_WRITE_MERGED    "pmix.disk.wtsmrgd"  /* uint64_t: writes joined with others */
#define PMIX_DISK_WRITE_SECTORS   "pmix.disk.wtsct"    /* uint64_t: sectors written */
#define PMIX_DISK_WRITE_MILLISEC  "pmix.disk.wtms"     /* uint64_t: milliseconds spent writing */
#define PMIX_DISK_IO_IN_PROGRESS  "pmix.disk.ios"      /* uint64_t: requests under way */
#define PMIX_DISK_IO_MILLISEC     "pmix.disk.ioms"     /* uint64_t: milliseconds spent with requests */
#define PMIX_DISK_IO_WEIGHTED     "pmix.disk.iowght"   /* uint64_t: the same, times the requests under way */
#define PMIX_DISK_SAMPLE_TIME     "pmix.disk.samptime" /* time_t: when this was taken */

/* Resource usage of networks */
#define PMIX_NETWORK_RESOURCE_USAGE "pmix.net.res"      /* pmix_info_t[]: the following, of one interface */
#define PMIX_NETWORK_ID             "pmix.net.id"       /* char*: name of the interface */
#define PMIX_NET_RECVD_BYTES        "pmix.net.rcb"      /* uint64_t: bytes received */
#define PMIX_NET_RECVD_PCKTS        "pmix.net.rcp"      /* uint64_t: packets received */
#define PMIX_NET_RECVD_ERRS         "pmix.net.rcerr"    /* uint64_t: errors while receiving */
#define PMIX_NET_SENT_BYTES         "pmix.net.sntb"     /* uint64_t: bytes sent */
#define PMIX_NET_SENT_PCKTS         "pmix.net.sntp"     /* uint64_t: packets sent */
#define PMIX_NET_SENT_ERRS          "pmix.net.snterr"   /* uint64_t: errors while sending */
#define PMIX_NET_SAMPLE_TIME        "pmix.net.samptime" /* time_t: when this was taken */

/* Resource usage of nodes */
#define PMIX_NODE_RESOURCE_USAGE  "pmix.node.res"      /* pmix_info_t[]: the following, of one node */
#define PMIX_NODE_LOAD_AVG        "pmix.node.la"       /* float: load average over 1 minute */
#define PMIX_NODE_LOAD_AVG5       "pmix.node.la5"      /* float: over 5 minutes */
#define PMIX_NODE_LOAD_AVG15      "pmix.node.la15"     /* float: over 15 minutes */
#define PMIX_NODE_MEM_TOTAL       "pmix.node.mtot"     /* float: memory, in MB */
#define PMIX_NODE_MEM_FREE        "pmix.node.mfree"    /* float: free memory, in MB */
#define PMIX_NODE_MEM_BUFFERS     "pmix.node.mbuf"     /* float: memory in buffers, in MB */
#define PMIX_NODE_MEM_CACHED      "pmix.node.mcache"   /* float: memory in caches, in MB */
#define PMIX_NODE_MEM_SWAP_CACHED "pmix.node.mswpc"    /* float: cached swap space, in MB */
#define PMIX_NODE_SWAP_TOTAL      "pmix.node.mswpt"    /* float: swap space, in MB */
#define PMIX_NODE_MEM_SWAP_FREE   "pmix.node.mswpfree" /* float: free swap space, in MB */
#define PMIX_NODE_MEM_MAPPED      "pmix.node.mmap"     /* float: mapped memory, in MB */
#define PMIX_NODE_SAMPLE_TIME     "pmix.node.samptime" /* time_t: when this was taken */

/* Process sets */
#define PMIX_PSET_NAME    "pmix.pset.nm"   /* char*: name of a process set */
#define PMIX_PSET_NAMES   "pmix.pset.nms"  /* char*[]: sets the process is in */
#define PMIX_PSET_MEMBERS "pmix.pset.mems" /* pmix_proc_t[]: members of the set */

/* Process groups */
#define PMIX_GROUP_ID                     "pmix.grp.id"        /* char*: name of a group */
#define PMIX_GROUP_NAMES                  "pmix.pgrp.nm"       /* char*[]: groups the process is in */
#define PMIX_GROUP_LEADER                 "pmix.grp.ldr"       /* bool: this process leads the group */
#define PMIX_GROUP_MEMBERSHIP             "pmix.grp.mbrs"      /* pmix_proc_t[]: members of the group */
#define PMIX_GROUP_ADD_MEMBERS            "pmix.grp.add"       /* pmix_proc_t[]: members to add that do not call */
#define PMIX_GROUP_BOOTSTRAP              "pmix.grp.btstrp"    /* size_t: number of leaders that make the group */
#define PMIX_GROUP_FINAL_MEMBERSHIP_ORDER "pmix.grp.finord"    /* pmix_proc_t[]: members in their final order */
#define PMIX_GROUP_OPTIONAL               "pmix.grp.opt"       /* bool: make the group without processes that decline */
#define PMIX_GROUP_NOTIFY_TERMINATION     "pmix.grp.notterm"   /* bool: notify when a member ends without leaving */
#define PMIX_GROUP_FT_COLLECTIVE          "pmix.grp.ftcoll"    /* bool: go on with fewer members if some end */
#define PMIX_GROUP_ASSIGN_CONTEXT_ID      "pmix.grp.actxid"    /* bool: give the group a number */
#define PMIX_GROUP_CONTEXT_ID             "pmix.grp.ctxid"     /* size_t: number of the group */
#define PMIX_GROUP_LOCAL_CID              "pmix.grp.lclid"     /* size_t: member's own number for the group */
#define PMIX_GROUP_LOCAL_ONLY             "pmix.grp.lcl"       /* bool: all members are on one node */
#define PMIX_GROUP_ENDPT_DATA             "pmix.grp.endpt"     /* pmix_byte_object_t: endpoints that members exchange */
#define PMIX_GROUP_INFO                   "pmix.grp.info"      /* pmix_info_t[]: infos of a member for the others */
#define PMIX_GROUP_INFO_ARRAY             "pmix.grp.infoarray" /* pmix_info_t[]: infos of all members */
#define PMIX_GROUP_JOB_INFO               "pmix.grp.jinfo"     /* pmix_byte_object_t: job data that members exchange */

/* Storage */
#define PMIX_STORAGE_ID                  "pmix.strg.id"      /* char*: name of the storage system */
#define PMIX_STORAGE_PATH                "pmix.strg.path"    /* char*: mount point */
#define PMIX_STORAGE_TYPE                "pmix.strg.type"    /* char*: kind of file system */
#define PMIX_STORAGE_VERSION             "pmix.strg.ver"     /* char*: its version */
#define PMIX_STORAGE_MEDIUM              "pmix.strg.medium"  /* pmix_storage_medium_t: medium */
#define PMIX_STORAGE_ACCESSIBILITY       "pmix.strg.access"  /* pmix_storage_accessibility_t: processes that can reach it */
#define PMIX_STORAGE_PERSISTENCE         "pmix.strg.persist" /* pmix_storage_persistence_t: lifetime of its data */
#define PMIX_STORAGE_ACCESS_TYPE         "pmix.strg.atype"   /* pmix_storage_access_type_t: access the figures are for */
#define PMIX_STORAGE_CAPACITY_LIMIT      "pmix.strg.cap"     /* uint64_t: bytes it can hold */
#define PMIX_STORAGE_CAPACITY_USED       "pmix.strg.capuse"  /* double: bytes it holds */
#define PMIX_STORAGE_OBJECT_LIMIT        "pmix.strg.obj"     /* uint64_t: objects it can hold */
#define PMIX_STORAGE_OBJECTS_USED        "pmix.strg.objuse"  /* uint64_t: objects it holds */
#define PMIX_STORAGE_MINIMAL_XFER_SIZE   "pmix.strg.minxfer" /* double: least transfer that is not slow, in bytes */
#define PMIX_STORAGE_SUGGESTED_XFER_SIZE "pmix.strg.sxfer"   /* double: best size of a transfer, in bytes */
#define PMIX_STORAGE_BW_MAX              "pmix.strg.bwmax"   /* double: greatest bandwidth, in bytes/s */
#define PMIX_STORAGE_BW_CUR              "pmix.strg.bwcur"   /* double: bandwidth now, in bytes/s */
#define PMIX_STORAGE_IOPS_MAX            "pmix.strg.iopsmax" /* double: greatest rate of operations per second */
#define PMIX_STORAGE_IOPS_CUR            "pmix.strg.iopscur" /* double: rate of operations now */

/* Fabric */
#define PMIX_FABRIC_VENDOR       "pmix.fab.vndr"     /* char*: vendor */
#define PMIX_FABRIC_IDENTIFIER   "pmix.fab.id"       /* char*: name of the fabric */
#define PMIX_FABRIC_INDEX        "pmix.fab.idx"      /* size_t: number of the fabric */
#define PMIX_FABRIC_PLANE        "pmix.fab.plane"    /* char*: plane of the fabric */
#define PMIX_FABRIC_NUM_DEVICES  "pmix.fab.nverts"   /* size_t: devices of the fabric */
#define PMIX_FABRIC_COST_MATRIX  "pmix.fab.cm"       /* pointer: costs between all devices, uint16_t[n][n] */
#define PMIX_FABRIC_GROUPS       "pmix.fab.grps"     /* char*: groups of devices: commas within, semicolons between */
#define PMIX_FABRIC_COORDINATES  "pmix.fab.coord"    /* pmix_geometry_t[]: coordinates of a process */
#define PMIX_FABRIC_DIMS         "pmix.fab.dims"     /* uint32_t: dimensions of the coordinates */
#define PMIX_FABRIC_SHAPE        "pmix.fab.shape"    /* uint32_t[]: extent in each dimension */
#define PMIX_FABRIC_SHAPE_STRING "pmix.fab.shapestr" /* char*: the same, as text */
#define PMIX_FABRIC_ENDPT        "pmix.fab.endpt"    /* pmix_endpoint_t[]: endpoints of a process */
#define PMIX_FABRIC_SWITCH       "pmix.fab.switch"   /* char*: name of a switch */
#define PMIX_SWITCH_PEERS        "pmix.speers"       /* char*: ranks by device under the same switch */

/* Devices of a fabric */
#define PMIX_FABRIC_DEVICES            "pmix.fab.devs"        /* pmix_data_array_t[]: infos of each device of a node */
#define PMIX_FABRIC_DEVICE             "pmix.fabdev"          /* pmix_info_t[]: one device, with the following */
#define PMIX_FABRIC_DEVICE_NAME        "pmix.fabdev.nm"       /* char*: name in the operating system */
#define PMIX_FABRIC_DEVICE_INDEX       "pmix.fabdev.idx"      /* uint32_t: number of the device */
#define PMIX_FABRIC_DEVICE_VENDOR      "pmix.fabdev.vndr"     /* char*: vendor */
#define PMIX_FABRIC_DEVICE_VENDORID    "pmix.fabdev.vendid"   /* char*: number of the vendor */
#define PMIX_FABRIC_DEVICE_BUS_TYPE    "pmix.fabdev.btyp"     /* char*: bus it is on */
#define PMIX_FABRIC_DEVICE_PCI_DEVID   "pmix.fabdev.pcidevid" /* char*: place on the PCI bus */
#define PMIX_FABRIC_DEVICE_DRIVER      "pmix.fabdev.driver"   /* char*: driver */
#define PMIX_FABRIC_DEVICE_FIRMWARE    "pmix.fabdev.fmwr"     /* char*: version of its firmware */
#define PMIX_FABRIC_DEVICE_ADDRESS     "pmix.fabdev.addr"     /* char*: address */
#define PMIX_FABRIC_DEVICE_COORDINATES "pmix.fab.coord"       /* pmix_geometry_t: coordinates; newer: "pmix.fabdev.coord" */
#define PMIX_FABRIC_DEVICE_MTU         "pmix.fabdev.mtu"      /* size_t: greatest packet, in bytes */
#define PMIX_FABRIC_DEVICE_SPEED       "pmix.fabdev.speed"    /* size_t: Mbit/s */
#define PMIX_FABRIC_DEVICE_STATE       "pmix.fabdev.state"    /* pmix_link_state_t: state of its link */
#define PMIX_FABRIC_DEVICE_TYPE        "pmix.fabdev.type"     /* char*: kind of fabric it serves */

/* Devices and distances */
#define PMIX_DEVICE_ID        "pmix.dev.id"   /* char*: name of a device */
#define PMIX_DEVICE_TYPE      "pmix.dev.type" /* pmix_device_type_t: kinds of device wanted */
#define PMIX_DEVICE_DISTANCES "pmix.dev.dist" /* pmix_device_distance_t[]: from a process to devices */

/* clang-format on */

#endif
