import { ALPHANUMERIC, isFault, isoTime, parseTime, text } from "@slipway/base";
import { type Context, ownerReference } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { type BootRecord, decodeBootRecord, encodeBootRecord } from "../../bootstrap/boot-record.ts";
import { bootIdOf, bootUrls, mintCapability } from "../../bootstrap/boot-url.ts";
import { harvesterBoot } from "../../bootstrap/harvester/boot.ts";
import { holdScript } from "../../bootstrap/harvester/boot-script.ts";
import { Instance } from "../../kinds/harvester/instance.ts";
import type { Fleet } from "../../machines/fleet.ts";
import type { Boot, Machine } from "../../machines/machine.ts";
import { hashPassword, hashRandomPassword } from "../../pki/password.ts";
import { claimOf } from "./claim.ts";
import { harvesterJoin } from "./join.ts";
import { type JoinTokenSource, joinToken, serverUrl } from "./join-facts.ts";
import { tellSome } from "./tell.ts";

/** A boot that may be ordered: what the provider gets, and the name that the machine's signals carry. */
export interface PreparedBoot extends Boot {
  id: string;
  /** RFC 3339. */
  at: string;
  /** What is served to the machine once it is published. */
  record: BootRecord;
}

export interface BootSettings {
  /** The operator's namespace. */
  namespace: string;
  /** Base URL of the boot service as machines reach it. */
  url: string;
  joinToken: JoinTokenSource;
  /** Tells the log's redaction of values that must not leave. */
  onSecret?: (value: string) => void;
}

/** On a boot Secret: which Instance the boot is of. */
export const BOOT_OF = "slipway.dev/boot-of";
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
    const held = await this.#record(context, uid);
    const now = clock.now();
    const named = instance.status?.boot?.pass === pass ? instance.status.boot : undefined;
    const reusable =
      held !== undefined && !held.closed && held.expiresAt > now && bootIdOf(held.capability) === named?.id;
    const capability = reusable ? held.capability : mintCapability(random);
    const urls = bootUrls(this.#settings.url, uid, capability);
    const { spec } = instance;
    const hold = claim.passes === 2 && pass === 1;
    const passwordHash = await this.#passwordHash(context, instance);
    const join = harvesterJoin(instance, {
      token: await joinToken(client, this.#settings.joinToken),
      serverUrl: await serverUrl(client, spec.harvester?.serverURL),
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
    const at = reusable && named !== undefined && parseTime(named.at) !== undefined ? named.at : isoTime(now);
    return {
      id: bootIdOf(capability),
      at,
      scriptUrl: urls.ipxe,
      userData: inUserData ? boot.config : (spec.userdata ?? ""),
      record,
    };
  }

  /**
   * Makes a boot ready to be fetched, in the place of any earlier one of the Instance. Only after its id was written to the status under
   * the object's version: a decision on an old object would otherwise take away the boot of a machine that is on its way.
   */
  async publish({ client }: Context, instance: Instance, { record }: PreparedBoot): Promise<void> {
    const ref = this.#ref(instance.metadata.uid);
    const data = encodeBootRecord(record);
    const metadata = {
      ...ref,
      annotations: { [BOOT_OF]: instance.metadata.name },
      ownerReferences: [ownerReference(Instance, instance)],
    };
    try {
      await client.create(Secret, { metadata, type: "Opaque", data });
    } catch (error) {
      if (!isFault(error, "AlreadyExists")) throw error;
      const body = { data: { firstConfigFetchAt: null, firstConfigFetchFrom: null, closed: null, ...data } };
      await client.patch(Secret, ref, { type: "merge", body });
    }
  }

  /** The machine has joined: nothing of its boot is needed any more, and it may not be fetched again. */
  async discard(context: Context, fleet: Fleet, instance: Instance): Promise<void> {
    await context.client.delete(Secret, this.#ref(instance.metadata.uid));
    if (instance.spec.ipxeScriptUrl && instance.status?.instanceID) {
      await fleet.driver.configure(instance.status.instanceID, { userData: "" }, context.signal);
    }
    await tellSome(context, instance, { boot: undefined });
  }

  /** Keeps the password of a foreign machine. */
  async keepPassword(context: Context, instance: Instance, password: string): Promise<void> {
    await this.#keep(context, instance, password, hashPassword(password, instance.metadata.uid));
  }

  async #keep({ client }: Context, instance: Instance, password: string, hash: string): Promise<void> {
    this.#settings.onSecret?.(password);
    try {
      await client.create(Secret, {
        metadata: { ...this.#passwordRef(instance), ownerReferences: [ownerReference(Instance, instance)] },
        type: "Opaque",
        data: { password: base64(password), hash: base64(hash) },
      });
    } catch (error) {
      if (!isFault(error, "AlreadyExists")) throw error;
    }
  }

  /** The hash of the operating system's password, which is made once for each Instance and readable in the Secret `<instance>-os`. */
  async #passwordHash(context: Context, instance: Instance): Promise<string> {
    const ref = this.#passwordRef(instance);
    const read = async (): Promise<string | undefined> => {
      const data = (await context.client.find(Secret, ref))?.data?.hash;
      return data && Buffer.from(data, "base64").toString("utf8");
    };
    const held = await read();
    if (held !== undefined) return held;
    const password = text(context.random, PASSWORD_LENGTH, ALPHANUMERIC);
    await this.#keep(context, instance, password, hashRandomPassword(password, instance.metadata.uid));
    // Another writer may have been first.
    return (await read()) ?? "";
  }

  async #record({ client }: Context, uid: string): Promise<BootRecord | undefined> {
    const secret = await client.find(Secret, this.#ref(uid));
    return secret?.data && decodeBootRecord(secret.data);
  }

  #ref(uid: string): { namespace: string; name: string } {
    return bootSecretRef(this.#settings.namespace, uid);
  }

  #passwordRef({ metadata }: Instance): { namespace: string; name: string } {
    return { namespace: this.#settings.namespace, name: `${metadata.name}-os` };
  }
}

/** The Secret that holds the boot of a claim. */
export function bootSecretRef(namespace: string, claim: string): { namespace: string; name: string } {
  return { namespace, name: `boot-${claim}` };
}

function base64(value: string): string {
  return Buffer.from(value, "utf8").toString("base64");
}
