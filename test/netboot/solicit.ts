/**
 * A program of perl that solicits routers as iPXE does, from its link-local address on the card `there`. It takes how often, waits half a
 * second each time, and prints the first advertisement in hexadecimal, or nothing.
 */
export const SOLICIT = String.raw`
use Socket qw(:all);
socket(my $raw, AF_INET6, SOCK_RAW, 58) or die "socket: $!";
my $advertisements = "\xff" x 32; vec($advertisements, 134, 1) = 0;
setsockopt($raw, 58, 1, $advertisements) or die "filter: $!";
setsockopt($raw, SOL_SOCKET, 25, "there\0") or die "device: $!";
setsockopt($raw, 41, 18, pack("i", 255)) or die "hops: $!";
my $request = pack("a16 i x20", "there", 0);
ioctl($raw, 0x8933, $request) or die "index: $!";
my (undef, $index) = unpack("a16 i", $request);
for (1 .. $ARGV[0]) {
  send($raw, pack("C C n N", 133, 0, 0, 0), 0, pack_sockaddr_in6(0, inet_pton(AF_INET6, "ff02::2"), $index)) or next;
  my $ready = ""; vec($ready, fileno $raw, 1) = 1;
  select($ready, undef, undef, 0.5) > 0 or next;
  recv($raw, my $bytes, 1500, 0);
  print unpack("H*", $bytes);
  last;
}
`;
