# SPDX-License-Identifier: Apache-2.0
# A Slurm of its own for slurm.bats: a controller and two nodes with two GPUs each, all on this machine and
# in one folder. The GPUs are special files that stand in for some.
# shellcheck disable=SC2154 # slurm.bats sets the variables

# Prints why there can be no Slurm here, if so.
lacking_slurm() {
    local program
    for program in munged slurmctld slurmd sbatch; do
        command -v "$program" >/dev/null || {
            echo "no $program (Debian: slurm-wlm, munge)"
            return
        }
    done
    [ "$(id -u)" -eq 0 ] || echo "Slurm's daemons need root"
}

# Prints a port that no one listens on, from this one on.
free_port() {
    local port=$1
    while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
        port=$((port + 1))
    done
    echo "$port"
}

# The prolog gives each node a disk of its own.
write_configuration() {
    local node port host
    host=$(uname -n)
    port=$(free_port $((20000 + RANDOM % 10000)))
    head -c 128 /dev/urandom >"$cluster/munge.key"
    chmod 400 "$cluster/munge.key"
    cat >"$cluster/prolog" <<END
#!/bin/sh
mkdir -p "$cluster/disk-\$SLURMD_NODENAME"
echo "export SLURM_TMPDIR=$cluster/disk-\$SLURMD_NODENAME"
END
    chmod +x "$cluster/prolog"
    cat >"$cluster/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$cluster/munge/socket
CredType=cred/munge
MpiDefault=none
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool-%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog=$cluster/prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=1
KillWait=2
GresTypes=gpu
END
    for node in one two; do
        port=$(free_port $((port + 1)))
        echo "NodeName=$node NodeHostname=$host NodeAddr=127.0.0.1 Port=$port CPUs=2 Gres=gpu:2" \
            >>"$cluster/slurm.conf"
        printf "NodeName=$node Name=gpu File=%s\n" /dev/null /dev/zero >>"$cluster/gres.conf"
    done
    echo 'PartitionName=gpus Nodes=one,two Default=YES State=UP' >>"$cluster/slurm.conf"
}

# daemon NAME COMMAND...: start it, with its output in a log.
daemon() {
    local log=$cluster/$1.log
    shift
    setsid "$@" </dev/null >"$log" 2>&1 3>&- 4>&- &
    echo $! >>"$cluster/daemons"
    disown
}

# until_true SECONDS COMMAND...: wait until it succeeds; fail if it does not in time.
until_true() {
    local ends=$((SECONDS + $1))
    shift
    until "$@"; do
        ((SECONDS < ends)) || {
            echo "not in time: $*"
            return 1
        }
        sleep 0.2
    done
}

are_nodes_idle() {
    [ "$(sinfo --noheader --Node --format=%t 2>/dev/null | grep -c '^idle$')" -eq 2 ]
}

start_cluster() {
    mkdir -p "$cluster"/{munge,state}
    chmod 755 "$cluster" "$cluster/munge"
    write_configuration
    daemon munged munged --foreground --force --key-file="$cluster/munge.key" \
        --socket="$cluster/munge/socket" --pid-file="$cluster/munge/pid" \
        --seed-file="$cluster/munge/seed" --log-file="$cluster/munge/log" --num-threads=2
    until_true 20 test -S "$cluster/munge/socket"
    daemon slurmctld slurmctld -D -f "$SLURM_CONF"
    daemon one slurmd -D -N one -f "$SLURM_CONF"
    daemon two slurmd -D -N two -f "$SLURM_CONF"
    until_true 60 are_nodes_idle
}

stop_cluster() {
    local process
    [ -f "$cluster/daemons" ] || return 0
    timeout 10 scancel --user=root || true
    while read -r process; do
        kill -KILL -- "-$process" 2>/dev/null || true
    done <"$cluster/daemons"
    for process in $(job_processes); do
        kill -KILL "$process" 2>/dev/null || true
    done
}

# Prints what the jobs have left: it has their variables, and this test has not.
job_processes() {
    grep -lzsxF "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null | while IFS=/ read -r _ _ process _; do
        ! grep -qzs '^SLURM_JOB_ID=' "/proc/$process/environ" || echo "$process"
    done
    pgrep -f "^slurmstepd: " | while read -r process; do
        ! grep -qzsxF "SLURM_CONF=$SLURM_CONF" "/proc/$process/environ" || echo "$process"
    done
}
