/** What is different about some examples. All others are run to their end, which is to be 0. */

/** Not run here: why, and where it is seen instead. The first pattern that fits counts. */
export const ELSEWHERE: readonly (readonly [example: RegExp, why: string])[] = [
  [/^slipway lab\b/, "emulates machines for minutes: test/cli/lab.test.ts, make test-firmware"],
  [/^KUBECONFIG=\.slipway\/lab\//, "asks a lab's cluster: test/cli/lab.test.ts"],
  [/--kubernetes real/, "starts a real etcd and kube-apiserver: test/kubernetes/up.test.ts"],
  [/^slipway demo( #.*)?$/, "takes a minute, and the same with few machines is below: make demo"],
  [/^slipway node-agent /, "needs a libvirtd: test/libvirt"],
  [
    /^slipway netboot (?!.*--dry-run)/,
    "needs root, a network of machines and what they boot: test/cli/netboot.test.ts, test/netboot",
  ],
  [/^slipway up --netboot /, "needs root and a network of machines: test/cli/netboot.test.ts"],
  [/^slipway doctor network /, "needs root to look for other DHCP servers: src/cli/doctor.test.ts"],
  [/^slipway doctor account /, "asks a provider on the Internet: src/cli/doctor.test.ts asks a simulated one"],
  [/^slipway parlay cluster\.yaml /, "needs machines with SSH: src/cli/parlay.test.ts"],
  [/^slipway plunder clients? ?/, "needs a netboot with --plunder-api: src/cli/plunder.test.ts"],
  [/^slipway top( --watch)?$/, "asks the operator's Pods: src/cli/top.test.ts"],
];

/** Go on until they are stopped: what they print once they are ready. */
export const ENDLESS: readonly (readonly [example: RegExp, ready: RegExp])[] = [
  [/^slipway up\b/, /^Ctrl-C stops it/m],
  [/^(\w+=\S+ )?slipway operator /, /operator started/],
  [/^slipway sim /, /endpoint/],
  [/--watch/, /\S/],
  [/^slipway logs .* -f$/, /\S/],
];

/** End otherwise than with 0 in the small world here, as they should. */
export const ENDS: readonly (readonly [example: RegExp, codes: readonly number[], why: string])[] = [
  [/^slipway doctor /, [0, 1], "1 where something is not ready"],
  [/^slipway approve .* --key /, [1], "no machine here has that key"],
];

export const find = <T extends readonly [RegExp, ...unknown[]]>(table: readonly T[], example: string): T | undefined =>
  table.find(([pattern]) => pattern.test(example));
