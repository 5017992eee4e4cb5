import { ALPHANUMERIC, isFault, parseTime, text } from "@slipway/base";
import { type Context, ownerReference } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import type { BootRecord } from "../../bootstrap/boot-record.ts";
import type { BootStore } from "../../bootstrap/boot-store.ts";
import { bootIdOf, bootUrls, mintCapability } from "../../bootstrap/boot-url.ts";
import { harvesterBoot } from "../../bootstrap/harvester/boot.ts";
import { holdScript } from "../../bootstrap/harvester/boot-script.ts";
import { Instance } from "../../kinds/harvester/instance.ts";
import type { PreparedBoot } from "../../machines/claimant.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Machine } from "../../machines/machine.ts";
import { hashPassword, hashRandomPassword } from "../../pki/password.ts";
import { claimOf } from "./claim.ts";
import { harvesterJoin } from "./join.ts";
import type { JoinInputs } from "./join-facts.ts";

export interface BootSettings {
  /** The operator's namespace. */
  namespace: string;
  /** Base URL of the boot service as machines reach it. */
  url: string;
  inputs: JoinInputs;
  store: BootStore;
  /** Tells the log's redaction of values that must not leave. */
  onSecret?: (value: string) => void;
}

const PASSWORD_LENGTH = 20;

/** Prepares what machines boot with. Everything secret about a boot stands in one Secret, owned by the Instance and gone once the machine has joined. */
export class Boots {
  readonly #settings: BootSettings;

  constructor(settings: BootSettings) {
    this.#settings = settings;
  }

  /**
   * Composes the boot of this pass; the one that the status names is used again while it lasts, so a repeated order gives the provider
   * the same. Pass 1 of 2 only holds the machine; pass 2 knows the management ports' MAC addresses. Nothing that a machine may be
   * fetching is touched: that is `publish`, once the boot is announced on the object.
   */
  async prepare(
    context: Context,
    instance: Instance,
    { pass, machine }: { pass: 1 | 2; machine?: Machine },
  ): Promise<PreparedBoot> {
    const { clock, random, client } = context;
    const claim = claimOf(instance);
    const uid = instance.metadata.uid;
    const now = clock.now();
    const named = instance.status?.boot?.pass === pass ? instance.status.boot : undefined;
    const held = named === undefined ? undefined : await this.#settings.store.read(client, uid);
    const reusable =
      held !== undefined && !held.closed && held.expiresAt > now && bootIdOf(held.capability) === named?.id;
    const capability = reusable ? held.capability : mintCapability(random);
    const urls = bootUrls(this.#settings.url, uid, capability);
    const { spec } = instance;
    const hold = claim.passes === 2 && pass === 1;
    const passwordHash = await this.#passwordHash(context, instance);
    const join = harvesterJoin(instance, {
      token: await this.#settings.inputs.token(client),
      serverUrl: await this.#settings.inputs.serverUrl(client, spec.harvester?.serverURL),
      passwordHash,
      events: { started: urls["events/started"], succeeded: urls["events/succeeded"], failed: urls["events/failed"] },
      machine,
    });
    this.#settings.onSecret?.(join.token);
    const boot = harvesterBoot({
      join,
      configUrl: urls.config,
      selfUrl: urls.ipxe,
      verifyTls: spec.harvester?.insecureSkipTLSVerify !== true,
      ...(spec.ipxeScriptUrl && { userScriptUrl: spec.ipxeScriptUrl }),
    });
    // A script of the user's own reads its configuration where the addon put it: in the provider's user data.
    const inUserData = Boolean(spec.ipxeScriptUrl) && !hold;
    const record: BootRecord = {
      capability,
      expiresAt: now + claim.provisionTimeoutMs + claim.joinTimeoutMs,
      script: hold ? holdScript(urls.ipxe) : boot.script,
      config: hold || inUserData ? "" : boot.config,
    };
    return {
      id: bootIdOf(capability),
      at: (reusable ? parseTime(named?.at) : undefined) ?? now,
      scriptUrl: urls.ipxe,
      userData: inUserData ? boot.config : (spec.userdata ?? ""),
      publish: () => this.#settings.store.publish(client, { resource: Instance, object: instance }, record),
    };
  }

  /** The machine has joined: nothing of its boot is needed any more, and it may not be fetched again. */
  async discard(context: Context, fleet: Fleet, instance: Instance): Promise<void> {
    await this.remove(context, instance);
    if (instance.spec.ipxeScriptUrl && instance.status?.instanceID) {
      await fleet.driver.configure(instance.status.instanceID, { userData: "" }, context.signal);
    }
  }

  /** Nothing that was prepared for the Instance may be fetched any more. */
  async remove({ client }: Context, { metadata }: Instance): Promise<void> {
    await this.#settings.store.remove(client, metadata.uid);
  }

  /** Keeps the password of a foreign machine. */
  async keepPassword(context: Context, instance: Instance, password: string): Promise<void> {
    await this.#keep(context, instance, password, hashPassword(password, instance.metadata.uid));
  }

  /** False: another password is kept already. */
  async #keep({ client }: Context, instance: Instance, password: string, hash: string): Promise<boolean> {
    this.#settings.onSecret?.(password);
    try {
      await client.create(Secret, {
        metadata: { ...this.#passwordRef(instance), ownerReferences: [ownerReference(Instance, instance)] },
        type: "Opaque",
        data: { password: base64(password), hash: base64(hash) },
      });
      return true;
    } catch (error) {
      if (!isFault(error, "AlreadyExists")) throw error;
      return false;
    }
  }

  /** The hash of the operating system's password, which is made once for each Instance and readable in the Secret `<instance>-os`. */
  async #passwordHash(context: Context, instance: Instance): Promise<string> {
    const read = async (): Promise<string | undefined> => {
      const data = (await context.client.find(Secret, this.#passwordRef(instance)))?.data?.hash;
      return data && Buffer.from(data, "base64").toString("utf8");
    };
    // Before anything was ordered there is none, unless an order failed before it was written down.
    const held = instance.status?.boot === undefined ? undefined : await read();
    if (held !== undefined) return held;
    const password = text(context.random, PASSWORD_LENGTH, ALPHANUMERIC);
    const hash = hashRandomPassword(password, instance.metadata.uid);
    return (await this.#keep(context, instance, password, hash)) ? hash : ((await read()) ?? "");
  }

  #passwordRef({ metadata }: Instance): { namespace: string; name: string } {
    return { namespace: this.#settings.namespace, name: `${metadata.name}-os` };
  }
}

function base64(value: string): string {
  return Buffer.from(value, "utf8").toString("base64");
}
