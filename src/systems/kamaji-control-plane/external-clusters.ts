import { createHash } from "node:crypto";
import { type Clock, deadline, Fault, type Log, type Random } from "@slipway/base";
import {
  type Client,
  createClient,
  Definitions,
  keyOf,
  type Ref,
  reflect,
  refOf,
  Store,
  type Transport,
} from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { type Connection, connectionOf, createHttpTransport } from "@slipway/kube/http";
import { TenantControlPlane } from "../../kinds/kamaji/tenant-control-plane.ts";
import type { KamajiControlPlane } from "../../kinds/kamaji-control-plane/kamaji-control-plane.ts";
import type { ExternalClusterReference } from "../../kinds/kamaji-control-plane/spec.ts";
import { CONTROL_PLANE, FIELD_MANAGER, nameByUid } from "./names.ts";
import type { TenantHome } from "./tenant-home.ts";

/** Requests to one of them. */
const LIMITS = { qps: 20, burst: 30 };
/** Until a cluster has listed its tenants. */
const ANSWER_MS = 15_000;

export interface ExternalPorts {
  clock: Clock;
  random: Random;
  log: Log;
  /** Whether a kubeconfig may be in another namespace than its control plane. */
  anyNamespace: boolean;
  /** Default: HTTP. */
  open?: (connection: Connection) => Transport;
}

interface Opened {
  /** Of the kubeconfig's text. */
  digest: string;
  client: Client;
  tenants: Store<TenantControlPlane>;
  /** Control planes that found the kind missing there, by their keys. */
  waiting: Map<string, Ref>;
  close(): Promise<void>;
}

/**
 * Other clusters that tenants of control planes run in (`spec.deployment.externalClusterReference`): one client and one watch of TenantControlPlanes
 * for each kubeconfig and namespace. Nothing polls: a cluster without the kind is waited for by its definition, where the account may read that. What can't be reached is a `Fault`, which the control plane's status shows.
 */
export class ExternalClusters {
  readonly #ports: ExternalPorts;
  readonly #opened = new Map<string, Opened>();
  readonly #wake: (controlPlane: Ref) => void;

  /** `wake` is called with a control plane whose tenant has changed. */
  constructor(ports: ExternalPorts, wake: (controlPlane: Ref) => void) {
    this.#ports = ports;
    this.#wake = wake;
  }

  /**
   * The place of a control plane's tenant. `here`: reads the kubeconfig's Secret. Rejects with `MissingInput` where the kubeconfig is not there, `Invalid`
   * where it can't be used, and `Unavailable` while the cluster has not answered.
   */
  async home(here: Pick<Client, "find">, controlPlane: KamajiControlPlane, name: string): Promise<TenantHome> {
    const reference = controlPlane.spec.deployment!.externalClusterReference!;
    const opened = await this.#cluster(here, controlPlane, reference);
    const { client, tenants } = opened;
    const namespace = reference.deploymentNamespace;
    const ref = { namespace, name };
    await this.#answered(opened, reference, refOf(controlPlane));
    return {
      ref,
      find: async () => tenants.get(keyOf(ref)) ?? (await client.find(TenantControlPlane, ref)),
      secret: (secret) => client.find(Secret, { namespace, name: secret }),
      apply: (body) =>
        client.patch(TenantControlPlane, ref, { type: "apply", body, fieldManager: FIELD_MANAGER, force: true }),
      remove: ({ metadata: { uid } }) => client.delete(TenantControlPlane, ref, { uid }),
      ownerReferences: undefined,
      mark: { [CONTROL_PLANE]: keyOf(refOf(controlPlane)) },
      isUnmarkedOurs: name === nameByUid(controlPlane),
    };
  }

  async close(): Promise<void> {
    const all = [...this.#opened.values()];
    this.#opened.clear();
    await Promise.all(all.map((one) => one.close()));
  }

  async #cluster(
    here: Pick<Client, "find">,
    controlPlane: KamajiControlPlane,
    reference: ExternalClusterReference,
  ): Promise<Opened> {
    const { kubeconfigSecretName: name, kubeconfigSecretKey: key, deploymentNamespace } = reference;
    const own = controlPlane.metadata.namespace!;
    const namespace = reference.kubeconfigSecretNamespace || own;
    const on = `Secret/${namespace}/${name}`;
    if (namespace !== own && !this.#ports.anyNamespace)
      throw new Fault("Invalid", "spec.deployment.externalClusterReference", `${on} is in another namespace`, {
        remedy: `put the kubeconfig into namespace ${own}, or run the operator with --kamaji-kubeconfigs-anywhere`,
      });
    const data = (await here.find(Secret, { namespace, name }))?.data?.[key];
    if (data === undefined)
      throw new Fault("MissingInput", on, `there is no kubeconfig in key ${key}`, { remedy: "create the Secret" });
    const text = Buffer.from(data, "base64").toString("utf8");
    const digest = createHash("sha256").update(text).digest("hex");
    const place = `${on}/${key}/${deploymentNamespace}`;
    const held = this.#opened.get(place);
    if (held?.digest === digest) return held;
    // The kubeconfig is another one now.
    await held?.close();
    const opened = this.#open(connectionOf(text, on, this.#ports.clock), { digest, namespace: deploymentNamespace });
    this.#opened.set(place, opened);
    return opened;
  }

  #open(connection: Connection, { digest, namespace }: { digest: string; namespace: string }): Opened {
    const { clock, random, log, open = createHttpTransport } = this.#ports;
    const transport = open(connection);
    const client = createClient(transport, { clock, random, log, limits: LIMITS, fieldManager: FIELD_MANAGER });
    const tenants = new Store<TenantControlPlane>();
    tenants.listen(({ object }) => {
      const [of, name] = (object.metadata.annotations?.[CONTROL_PLANE] ?? "").split("/");
      if (of && name) this.#wake({ namespace: of, name });
    });
    const waiting = new Map<string, Ref>();
    const end = new AbortController();
    const definitions = new Definitions({ client, clock, random, log }, end.signal);
    tenants.listenMissing((is) => {
      if (is) return void definitions.follow();
      for (const controlPlane of waiting.values()) this.#wake(controlPlane);
      waiting.clear();
    });
    const selection = { resource: TenantControlPlane, namespace };
    const reflecting = reflect(selection, tenants, { client, clock, random, log, definitions }, end.signal);
    return {
      ...{ digest, client, tenants, waiting },
      async close() {
        end.abort(new DOMException("the cluster is not used any more", "AbortError"));
        await Promise.all([reflecting, definitions.follow()]);
        await transport.close();
      },
    };
  }

  async #answered(
    { tenants, waiting }: Opened,
    { kubeconfigSecretName }: ExternalClusterReference,
    controlPlane: Ref,
  ): Promise<void> {
    if (tenants.synced && !tenants.missing) return;
    const { signal, done } = deadline(this.#ports.clock, ANSWER_MS);
    const late = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    await Promise.race([tenants.whenAnswered(), late]);
    done();
    const on = `the cluster of Secret/${kubeconfigSecretName}`;
    if (tenants.missing) waiting.set(keyOf(controlPlane), controlPlane);
    if (tenants.missing)
      throw new Fault("NotFound", on, "it serves no TenantControlPlanes", {
        remedy: "install Kamaji there, or Slipway",
      });
    if (!tenants.synced)
      throw new Fault("Unavailable", on, `it has not listed its TenantControlPlanes within ${ANSWER_MS / 1000} s`, {
        remedy: "check that the kubeconfig is right, that the cluster answers, and what the account may do there",
      });
  }
}
