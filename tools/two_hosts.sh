#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a command under Open MPI's mpirun on two "hosts" of this machine: network namespaces with host names of their
# own, joined by a link of a chosen rate. Says on stderr what passed over the link, which is more than the job's bytes by
# headers of the network and by what mpirun itself says. Needs root, iproute2 and util-linux; leaves nothing behind.
#
#   tools/two_hosts.sh [--rate 100mbit] [--ranks-per-host 2] [--map-by slot|node] COMMAND [ARGUMENTS...]
set -eu

# enter HOST COMMAND...: runs a command in a namespace, under its host name.
enter() {
  # shellcheck disable=SC2016
  nsenter --net="/run/netns/$1" unshare --uts sh -c 'hostname "$0"; exec "$@"' "$@"
}

# As the agent by which mpirun starts its daemon on another host: --agent PREFIX ADDRESS WORDS...
if [ "${1:-}" = --agent ]; then
  [ "$3" = 10.77.0.1 ] && host=${2}a || host=${2}b
  shift 3
  enter "$host" sh -c "$*"
  exit
fi

rate=100mbit ranks=2 map=slot
while [ $# -gt 0 ]; do
  case $1 in
    --rate) rate=$2; shift 2 ;;
    --ranks-per-host) ranks=$2; shift 2 ;;
    --map-by) map=$2; shift 2 ;;
    -*) sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
    *) break ;;
  esac
done
[ $# -gt 0 ] || { sed -n '3,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
[ "$(id -u)" = 0 ] || { echo "two_hosts.sh: namespaces need root" >&2; exit 2; }

prefix=weir$$
clean() {
  for side in a b; do ip netns delete "$prefix$side" 2>/dev/null || true; done
}
trap clean EXIT
trap 'exit 130' INT TERM
for side in a b; do
  ip netns add "$prefix$side"
  ip -n "$prefix$side" link set lo up
done
ip -n "${prefix}a" link add link0 type veth peer name link0 netns "${prefix}b"
for side in a b; do
  [ $side = a ] && address=10.77.0.1 || address=10.77.0.2
  ip -n "$prefix$side" address add $address/24 dev link0
  ip -n "$prefix$side" link set link0 up
  tc -n "$prefix$side" qdisc add dev link0 root tbf rate "$rate" burst 128kb latency 100ms
done

# mpirun itself is on the first host.
code=0
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 enter "${prefix}a" \
  mpirun --bind-to none --oversubscribe --map-by "$map" --np $((2 * ranks)) \
  --host "10.77.0.1:$ranks,10.77.0.2:$ranks" --mca plm_rsh_agent "$(readlink -f "$0") --agent $prefix" \
  --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 "$@" || code=$?
sent() { ip netns exec "$prefix$1" cat /sys/class/net/link0/statistics/tx_bytes; }
echo "two_hosts.sh: $(sent a) bytes to the second host, $(sent b) bytes to the first" >&2
exit $code
