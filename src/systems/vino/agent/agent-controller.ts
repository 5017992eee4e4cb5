import { type Context, type Controller, DONE, type Ref, source } from "@slipway/kube";
import { Vino } from "../../../kinds/vino/vino.ts";
import { VinoNode } from "../../../kinds/vino/vino-node.ts";
import { digest, VINO } from "../names.ts";
import { ClusterRole, ClusterRoleBinding, DaemonSet, ServiceAccount } from "../objects.ts";
import { type AgentOf, DAEMON_SET, daemonSet } from "./daemon-set.ts";
import { agentClusterRights } from "./rights.ts";

const CHECKSUM = "slipway.dev/checksum";

/** Runs the node agents while there is a Vino: their account, their rights, their DaemonSet. Without an image it leaves all of that to others. */
export function vinoAgentController(of: Omit<AgentOf, "image"> & { image: string | undefined }): Controller {
  const { account, image } = of;
  const { namespace } = account;
  const own: Ref = { namespace, name: DAEMON_SET };
  return {
    name: "vino-agents",
    system: VINO,
    sources: [
      source({ resource: Vino, when: (_, before) => before === undefined, keys: () => [own] }),
      source({ resource: VinoNode, when: (_, before) => before === undefined, keys: () => [own] }),
      source({ resource: DaemonSet, namespace, keys: () => [own] }),
    ],
    access: [
      { resource: DaemonSet, verbs: ["get", "create", "patch", "delete"], namespace },
      { resource: ServiceAccount, verbs: ["get", "create", "patch"], namespace },
      { resource: ClusterRole, verbs: ["create"] },
      { resource: ClusterRole, verbs: ["get", "patch"], names: [account.name] },
      { resource: ClusterRoleBinding, verbs: ["create"] },
      { resource: ClusterRoleBinding, verbs: ["get", "patch"], names: [account.name] },
    ],
    async reconcile(_, context) {
      if (image === undefined) return DONE;
      const { cache, client } = context;
      const live = cache.get(DaemonSet, own);
      if (cache.list(Vino).length > 0 || cache.list(VinoNode).length > 0) await keep(context, live, { ...of, image });
      else if (live !== undefined && live.metadata.annotations?.[CHECKSUM] !== undefined)
        await client.delete(DaemonSet, own, { uid: live.metadata.uid });
      return DONE;
    },
  };
}

async function keep({ client }: Context, live: DaemonSet | undefined, of: AgentOf): Promise<void> {
  const { namespace, name } = of.account;
  const body = daemonSet(of);
  const checksum = digest(JSON.stringify(body));
  if (live !== undefined && live.metadata.annotations?.[CHECKSUM] === checksum) return;
  const apply = { type: "apply" as const, fieldManager: "slipway", force: true };
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { namespace, name } };
  await client.patch(ServiceAccount, { namespace, name }, { ...apply, body: account });
  for (const right of agentClusterRights(of.account))
    await client.patch(right.resource, { name }, { ...apply, body: right.body });
  const metadata = { ...body.metadata, annotations: { [CHECKSUM]: checksum } };
  await client.patch(DaemonSet, { namespace, name: DAEMON_SET }, { ...apply, body: { ...body, metadata } });
}
