/** For tests: a service of each kind, rendered of the same few hosts. */
import { dump } from "js-yaml";
import type { SIPCluster } from "../../../kinds/sip/sip-cluster.ts";
import { auth } from "./auth/auth.ts";
import { controlPlaneBalancer } from "./balance/load-balancer.ts";
import type { Entry, ServiceKind } from "./entry.ts";
import type { ServiceHost } from "./host.ts";
import { jumpHost } from "./jump/jump-host.ts";
import type { Rendered } from "./rendered.ts";

const cluster = { metadata: { name: "c", namespace: "n", uid: "u" } } as unknown as SIPCluster;
/** The first entry of a kind in the cluster's specification. */
export const entry = (kind: ServiceKind): Entry => ({ cluster, kind, at: 0 });
const host = (unique: string, role: string, address: string, bmc?: Partial<ServiceHost["bmc"]>): ServiceHost => ({
  ...{ name: unique, namespace: "n", role, unique, addresses: { oam: address } },
  bmc: bmc && {
    address: "redfish+https://192.0.2.9/redfish/v1/Systems/1",
    username: "u",
    password: "p",
    isTrusted: false,
    ...bmc,
  },
});
export const hosts = [
  host("a", "ControlPlane", "10.0.0.1", { isTrusted: true }),
  host("b", "Worker", "10.0.0.2", {}),
  host("d", "Other", "10.0.0.2", { address: "ipmi://192.0.2.8" }),
  host("e", "Other", "10.0.0.3", { address: "redfish+https://192.0.2.7" }),
  host("f", "Other", "10.0.0.4"),
];
export const common = { image: "i", nodeInterfaceId: "oam" };

/** A Pod's specification without where it is placed. */
export function pod({ deployment }: Rendered): string {
  const { affinity: _, tolerations: __, ...rest } = deployment.spec!.template!.spec as Record<string, unknown>;
  return dump(rest, { lineWidth: -1, noRefs: true });
}
/** The data of a Secret or ConfigMap in base64, as texts. */
export const textsOf = (data: Record<string, string> | undefined) =>
  Object.fromEntries(Object.entries(data ?? {}).map(([key, text]) => [key, Buffer.from(text, "base64").toString()]));

/** The balancer before the control plane; `hosted`: of a tenant, at this address. */
export const apiBalancer = (
  fields: object = {},
  hosted?: { name: string; address: string; port: number },
  all = hosts,
) =>
  controlPlaneBalancer(
    entry("loadBalancerControlPlane"),
    { ...common, nodePort: 30_000, ...fields } as never,
    all,
    hosted,
  );
/** The jump host. */
export const jump = (fields: object = {}) =>
  jumpHost(
    entry("jumpHost"),
    { ...common, nodePort: 30_010, sshAuthorizedKeys: [], nodeSSHPrivateKeys: "keys", ...fields } as never,
    { hosts, keyNames: ["id"], keysVersion: "1" },
  );
export const KEYS = { "tls.crt": "c", "tls.key": "k", "ca.crt": "a" };
/** The OpenID Connect provider. */
export const provider = (fields: object = {}, config: Record<string, string> = {}, address = "192.0.2.1") =>
  auth(entry("auth"), { ...common, nodePort: 30_020, ...fields } as never, {
    ...{ host: address, nodePort: 30_020, config, apiServer: undefined, keys: KEYS },
  });
