/**
 * A shell script for `Namespace.open`: an Ethernet `net` with a machine in a network of its own for each name. Each machine's card is
 * called `there`; the server is at 10.9.0.1, in a network of `prefix` bits.
 */
export function bridge(machines: readonly string[], prefix = 24): string {
  return `
ip link add net type bridge
ip addr add 10.9.0.1/${prefix} dev net
ip link set net up
for n in ${machines.join(" ")}; do
  ip netns add $n
  ip link add $n type veth peer name there
  ip link set there netns $n
  ip netns exec $n ip link set lo up
  ip netns exec $n ip link set there up
  ip link set $n master net up
done
`;
}
