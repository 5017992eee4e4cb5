import { Fault } from "@slipway/base";
import type { Client } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { TenantControlPlane } from "../kinds/kamaji/tenant-control-plane.ts";
import { onCluster } from "./on-cluster.ts";
import type { Verb } from "./verb.ts";

interface KubeconfigOptions {
  namespace?: string;
  super: boolean;
  inCluster: boolean;
  kubeconfig?: string;
  context?: string;
}

/** `slipway kubeconfig`: of a tenant, for `kubectl`. */
export const verb: Verb = (program) => {
  program
    .command("kubeconfig")
    .description("Print the kubeconfig of a tenant's administrator.")
    .argument("<tenant>", "NAME or NAMESPACE/NAME of a TenantControlPlane")
    .option("-n, --namespace <namespace>", "namespace of the tenant; unset: the kubeconfig's, else default")
    .option("--super", "of the group system:masters, which no role can lock out", false)
    .option("--in-cluster", "for clients within the management cluster: by the Service's name", false)
    .option("--kubeconfig <file>", "cluster with the tenant; unset: $KUBECONFIG, else the cluster it runs in")
    .option("--context <name>", "context of the kubeconfig")
    .addHelpText(
      "after",
      `
It holds a private key: keep the file to yourself.

Examples:
  slipway kubeconfig team-a > team-a.conf && kubectl --kubeconfig team-a.conf get nodes
  slipway kubeconfig tenants/team-a --super`,
    )
    .action(async (tenant: string, options: KubeconfigOptions) => {
      await onCluster(options, async ({ client, namespace: ofCluster }) => {
        const namespace = options.namespace ?? ofCluster;
        const name = options.super ? "super-admin" : "admin";
        // Not through `say`: what is asked for is the secret itself.
        process.stdout.write(
          await tenantKubeconfig(client, refOf(tenant, namespace), `${name}.${options.inCluster ? "svc" : "conf"}`),
        );
      });
    });
};

interface TenantRef {
  namespace: string;
  name: string;
}

/** The tenant that is named: with its namespace, or in this one. Throws `BadRequest` for what is no name. */
export function refOf(text: string, namespace: string): TenantRef {
  const [first = "", second, ...rest] = text.split("/");
  if (rest.length > 0 || first === "" || second === "")
    throw new Fault("BadRequest", text, "it is no name", { remedy: "write NAME or NAMESPACE/NAME" });
  return second === undefined ? { namespace, name: first } : { namespace: first, name: second };
}

/**
 * What a tenant's Secret has under `key`: `admin.conf`, `admin.svc`, `super-admin.conf` or `super-admin.svc`. Rejects with `NotFound` where there is no such tenant,
 * and with `MissingInput` where it has no kubeconfig yet, saying what it waits for.
 */
export async function tenantKubeconfig(client: Client, { namespace, name }: TenantRef, key: string): Promise<string> {
  const tenant = await client.find(TenantControlPlane, { namespace, name });
  if (tenant === undefined) {
    const others = (await client.list(TenantControlPlane)).items.map(
      ({ metadata }) => `${metadata.namespace}/${metadata.name}`,
    );
    throw new Fault("NotFound", `${namespace}/${name}`, "there is no such tenant", {
      remedy: others.length === 0 ? "there are none" : `there are: ${others.sort().join(", ")}`,
    });
  }
  const { secretName } = tenant.status?.kubeconfig?.admin ?? {};
  const secret = secretName ? await client.find(Secret, { namespace, name: secretName }) : undefined;
  const text = secret?.data?.[key];
  if (text !== undefined) return Buffer.from(text, "base64").toString("utf8");
  const waits = tenant.status?.waitingFor;
  throw new Fault(
    "MissingInput",
    `${namespace}/${name}`,
    `it has no ${key} yet${waits ? `; it waits for ${waits}` : ""}`,
    {
      remedy: "see kubectl describe tcp",
    },
  );
}
