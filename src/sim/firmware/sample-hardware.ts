import type { Hardware } from "../hardware.ts";

/** For tests: a machine with two NICs and a disk of 480 GiB. */
export function sampleHardware(over: Partial<Hardware> = {}): Hardware {
  return {
    id: "7f8a1c52-0000-4000-8000-000000000001",
    hostname: "pool-abcdefgh",
    plan: "c3.small.x86",
    serial: "S1",
    nics: [
      { name: "eth0", mac: "0c:42:a1:00:00:01" },
      { name: "eth1", mac: "0c:42:a1:00:00:02" },
    ],
    publicIp: "198.51.100.7",
    privateIp: "10.0.0.7",
    firmware: "uefi",
    diskGiB: 480,
    reachable: () => true,
    ...over,
  };
}
