import { systemClock as clock, cryptoRandom, Fault, quietLog } from "@slipway/base";
import { createClient } from "@slipway/kube";
import { createHttpTransport, loadConnection } from "@slipway/kube/http";
import { refOf } from "./kubeconfig.ts";
import { say } from "./outgoing.ts";
import { reach } from "./reach.ts";
import { readTenant } from "./tenant-description.ts";
import { tenantLines } from "./tenant-lines.ts";
import type { Verb } from "./verb.ts";

const KINDS = ["tcp", "tenantcontrolplane", "tenantcontrolplanes"];

interface DescribeOptions {
  namespace?: string;
  kubeconfig?: string;
  context?: string;
}

/** `slipway describe`: one object and all that it is made of, with what each part waits for. */
export const verb: Verb = (program) => {
  program
    .command("describe")
    .description("Show a tenant: what it waits for, its datastore, certificates, components and nodes.")
    .argument("<kind/name>", "tcp/NAME or tcp/NAMESPACE/NAME of a TenantControlPlane")
    .option("-n, --namespace <namespace>", "namespace of the tenant; unset: the kubeconfig's, else default")
    .option("--kubeconfig <file>", "cluster with the tenant; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .addHelpText(
      "after",
      `
The tenant's own API is asked, too, where it can be reached from here; what it does not answer is said.

Examples:
  slipway describe tcp/team-a
  slipway describe tcp/tenants/team-a`,
    )
    .action(async (what: string, options: DescribeOptions) => {
      const tenant = tenantNamed(what);
      const { kubeconfig, context } = options;
      const named = { ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }) };
      const connection = await loadConnection({ env: process.env, clock, ...named });
      const transport = createHttpTransport(connection);
      try {
        await reach(transport, connection.server);
        const client = createClient(transport, { clock, random: cryptoRandom, log: quietLog });
        const ref = refOf(tenant, options.namespace ?? connection.namespace ?? "default");
        const facts = await readTenant(client, ref, { clock, open: createHttpTransport });
        for (const line of tenantLines(facts, clock.now())) say(line);
      } finally {
        await transport.close();
      }
    });
};

/** The tenant in `tcp/a` or `tcp/tenants/a`. Throws `BadRequest` for another kind. */
export function tenantNamed(what: string): string {
  const [kind = "", ...rest] = what.split("/");
  if (KINDS.includes(kind.toLowerCase()) && rest.length > 0) return rest.join("/");
  throw new Fault("BadRequest", what, "it is no object that can be described", {
    remedy: "write tcp/NAME or tcp/NAMESPACE/NAME",
  });
}
