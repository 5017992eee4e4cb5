import { systemClock as clock, Fault } from "@slipway/base";
import type { Client, Ref } from "@slipway/kube";
import { createHttpTransport } from "@slipway/kube/http";
import { readCluster } from "./cluster-description.ts";
import { clusterLines } from "./cluster-tree.ts";
import { refOf } from "./kubeconfig.ts";
import { onCluster } from "./on-cluster.ts";
import { say } from "./outgoing.ts";
import { readTenant } from "./tenant-description.ts";
import { tenantLines } from "./tenant-lines.ts";
import type { Verb } from "./verb.ts";

interface Described {
  client: Client;
  ref: Required<Ref>;
}

/** What can be described, by the names that kubectl knows it under. */
const KINDS: readonly {
  names: readonly string[];
  lines: (of: Described, options: DescribeOptions) => Promise<string[]>;
}[] = [
  {
    names: ["tcp", "tenantcontrolplane", "tenantcontrolplanes"],
    lines: async ({ client, ref }) =>
      tenantLines(await readTenant(client, ref, { clock, open: createHttpTransport }), clock.now()),
  },
  {
    names: ["cluster", "clusters", "cl"],
    lines: async ({ client, ref }, { each = false }) =>
      clusterLines(await readCluster(client, ref), clock.now(), { each }),
  },
];

interface DescribeOptions {
  each?: boolean;
  namespace?: string;
  kubeconfig?: string;
  context?: string;
}

/** `slipway describe`: one object and all that it is made of, with what each part waits for. */
export const verb: Verb = (program) => {
  program
    .command("describe")
    .description("Show a tenant or a workload cluster: all that it is made of, and what each part waits for.")
    .argument("<kind>", "tcp (TenantControlPlane) or cluster (Cluster API), also as KIND/NAME or KIND/NAMESPACE/NAME")
    .argument("[name]", "its name, or NAMESPACE/NAME")
    .option("-n, --namespace <namespace>", "namespace of the object; unset: the kubeconfig's, else default")
    .option(
      "--each",
      "of a cluster: a row for each Machine, with its objects, where Machines in the same state share one",
    )
    .option("--kubeconfig <file>", "cluster with the object; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .addHelpText(
      "after",
      `
A tenant's own API is asked, too, where it can be reached from here; what it does not answer is said.
A cluster is drawn as clusterctl describe draws it, by whichever core runs it.

Examples:
  slipway describe tcp/team-a
  slipway describe tcp/tenants/team-a
  slipway describe cluster capi-quickstart
  slipway describe cluster capi-quickstart --each`,
    )
    .action(async (kind: string, name: string | undefined, options: DescribeOptions) => {
      const { lines, name: object } = describedBy(name === undefined ? kind : `${kind}/${name}`);
      await onCluster(options, async ({ client, namespace }) => {
        const ref = refOf(object, options.namespace ?? namespace);
        for (const line of await lines({ client, ref }, options)) say(line);
      });
    });
};

/** How the object in `tcp/a`, `cluster/a` or `tcp/tenants/a` is described. Throws `BadRequest` for another kind. */
export function describedBy(what: string): (typeof KINDS)[number] & { name: string } {
  const [kind = "", ...rest] = what.split("/");
  const known = KINDS.find(({ names }) => names.includes(kind.toLowerCase()));
  if (known !== undefined && rest.length > 0 && rest.every((part) => part !== ""))
    return { ...known, name: rest.join("/") };
  throw new Fault("BadRequest", what, "it is no object that can be described", {
    remedy: "write tcp/NAME or cluster/NAME, or KIND/NAMESPACE/NAME",
  });
}
