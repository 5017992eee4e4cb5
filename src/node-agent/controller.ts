/** Keeps the node as its VinoNodes want it, and their statuses true. One key for all of them: they share bridges, storage and cores. */
import { asFault, isFault } from "@slipway/base";
import { type Access, type Controller, type StatusFields, StatusRecord, source } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { NODE_LABEL, nodeLabelValue, VinoNode } from "../kinds/vino/vino-node.ts";
import type { VmHost } from "./host.ts";
import type { Standing } from "./node/converge.ts";
import { CONFIRM_ANNOTATION, type NodeWish, type SecretsRead, wishOf } from "./node/wish.ts";
import type { MachineUser } from "./redfish/accounts.ts";
import type { SecretReader } from "./secret-reader.ts";
import { statusOf, stoppedStatus, unreachedStatus } from "./status.ts";

export const NODE_AGENT = "node-agent";

export interface ControllerOptions {
  node: string;
  /** Of its VinoNodes. Unset: all. */
  namespace?: string;
  host: VmHost;
  secrets: SecretReader;
  redfish: { url: string; ca: string };
  /** Codes of stops that were confirmed when the agent was started. */
  confirmations?: readonly string[];
  /** Called with who may order what, whenever that was looked up and the guard let the agent go on. */
  onUsers(users: readonly MachineUser[]): void;
}

/** Until everything is looked at again, where nothing happens. */
const LOOK_AGAIN_MS = 60_000;
const RETRY_MS = 5_000;

/**
 * All that an agent may do, for RBAC: to read VinoNodes and the Secrets that they name, and to write statuses; `namespace`: there alone.
 */
export function nodeAgentAccess(namespace?: string): readonly Access[] {
  const where = namespace === undefined ? {} : { namespace };
  return [
    { resource: VinoNode, verbs: ["list", "watch"], ...where },
    { resource: VinoNode, verbs: ["update"], subresource: "status", ...where },
    { resource: Secret, verbs: ["get"], ...where },
  ];
}

/** The controller of a node. Its key is the node. */
export function nodeController(options: ControllerOptions): Controller {
  const { node, namespace, host, secrets, redfish, onUsers, confirmations = [] } = options;
  const all = { name: node };
  return {
    name: NODE_AGENT,
    system: NODE_AGENT,
    sources: [
      source({
        resource: VinoNode,
        ...(namespace !== undefined && { namespace }),
        labelSelector: `${NODE_LABEL}=${nodeLabelValue(node)}`,
        keys: () => [all],
        when: (after, before) =>
          after.metadata.generation !== before.metadata.generation ||
          after.metadata.annotations?.[CONFIRM_ANNOTATION] !== before.metadata.annotations?.[CONFIRM_ANNOTATION] ||
          after.metadata.deletionTimestamp !== before.metadata.deletionTimestamp,
      }),
    ],
    access: nodeAgentAccess(namespace),
    workers: 1,
    listen(wake) {
      // Also where there is no VinoNode: the guard has to see what is left of one that is gone.
      wake(all);
      return host.onChange(() => wake(all));
    },
    async reconcile(_, context) {
      const { cache, client, clock, signal } = context;
      // A long name's label is a checksum: the field says whose it is.
      const nodes = cache.list(VinoNode).filter(({ spec }) => spec.nodeName === node);
      const read = await secrets.read(client, nodes, signal);
      const wish = wishOf(nodes, read, { ...(namespace !== undefined && { scope: namespace }), confirmations });
      const users = usersOf(wish, read);
      const write = async (fields: (one: VinoNode) => StatusFields<VinoNode>): Promise<void> => {
        for (const one of nodes) await new StatusRecord(context, VinoNode, one).write(fields(one));
      };
      let standing: Standing;
      try {
        standing = await host.apply(wish);
      } catch (error) {
        const message = asFault(error, "libvirt").advice;
        await write((one) => unreachedStatus(one, message, clock.now()));
        if (!isFault(error, "Unavailable", "LostAnswer")) throw error;
        return { againAfterMs: RETRY_MS };
      }
      const { stop, again } = standing;
      if (stop !== undefined) {
        // Passwords of a cluster that is not this node's let nobody in: `onUsers` is not called.
        await write((one) => stoppedStatus(one, stop, clock.now()));
        return { againAfterMs: RETRY_MS };
      }
      onUsers(users);
      const orderable = new Set(users.map(({ machine }) => machine));
      await write((one) => statusOf(one, { standing, redfish, orderable, now: clock.now() }));
      // Secrets are not watched: one that is missing is looked for.
      const isDue = again || orderable.size < wish.domains.length;
      return { againAfterMs: isDue ? RETRY_MS : LOOK_AGAIN_MS };
    },
  };
}

/** Of two domains of one name only one is made: the other's users don't order it. */
function usersOf({ domains }: NodeWish, secrets: SecretsRead): readonly MachineUser[] {
  return domains.flatMap(({ name: machine, owner, bmc }) => {
    const [namespace] = owner.split("/");
    const { username = "", password = "" } = secrets.get(`${namespace}/${bmc.name}`)?.data ?? {};
    return username === "" || password === "" ? [] : [{ machine, username, password }];
  });
}
