import { ALPHANUMERIC, text } from "@slipway/base";
import { type Context, controllerReference } from "@slipway/kube";
import { Secret } from "@slipway/kube/core";
import { type Domain, VinoNode } from "../../kinds/vino/vino-node.ts";
import { credentialsName, digest, networkDataName, vncName } from "./names.ts";

/** What is not seen to be changed is looked at again after this. */
const RECHECK_MS = 10 * 60_000;
const PASSWORD_LENGTH = 24;
/** VNC knows no more. */
const VNC_LENGTH = 8;

/** All Secrets that a machine may have. */
export const secretNamesOf = (host: string): string[] => [credentialsName(host), networkDataName(host), vncName(host)];

interface Contents {
  texts: Readonly<Record<string, string>>;
  /** Set: there is a password as well, made once. */
  passwordLength?: number;
}

/** The Secrets of a machine: its controller's credentials with the node's authority, its network data, its screen's password. Passwords are made once. */
export class MachineSecrets {
  /** By namespace and name: what was seen to be there, and when. */
  readonly #seen = new Map<string, { what: string; at: number }>();
  readonly #onSecret: (value: string) => void;

  /** `onSecret` has the log hide a value. */
  constructor(onSecret: (value: string) => void) {
    this.#onSecret = onSecret;
  }

  /** The credentials, with `ca` where it is known; the password stays whatever else changes. */
  async credentials(
    context: Context,
    owner: VinoNode,
    domain: Domain,
    of: { username: string; ca: string | undefined },
  ): Promise<void> {
    const { username, ca } = of;
    const texts = { username, ...(ca !== undefined && { "ca.crt": ca }) };
    await this.#keep(context, owner, domain.bmc.name, { texts, passwordLength: PASSWORD_LENGTH });
  }

  async vnc(context: Context, owner: VinoNode, name: string): Promise<void> {
    await this.#keep(context, owner, name, { texts: {}, passwordLength: VNC_LENGTH });
  }

  async networkData(context: Context, owner: VinoNode, host: string, networkData: string): Promise<void> {
    await this.#keep(context, owner, networkDataName(host), { texts: { networkData } });
  }

  /** Deletes a machine's Secrets that are this node's. */
  async drop({ client }: Context, owner: VinoNode, host: string): Promise<void> {
    const namespace = owner.metadata.namespace!;
    for (const name of secretNamesOf(host)) {
      this.#seen.delete(`${namespace}/${name}`);
      const found = await client.find(Secret, { namespace, name });
      if (found === undefined || !isOf(found, owner)) continue;
      await client.delete(Secret, { namespace, name }, { uid: found.metadata.uid });
    }
  }

  async #keep(
    { client, clock, random }: Context,
    owner: VinoNode,
    name: string,
    { texts, passwordLength }: Contents,
  ): Promise<void> {
    const namespace = owner.metadata.namespace!;
    const id = `${namespace}/${name}`;
    const what = digest(owner.metadata.uid, JSON.stringify(texts));
    const seen = this.#seen.get(id);
    if (seen?.what === what && clock.now() - seen.at < RECHECK_MS) return;
    const found = await client.find(Secret, { namespace, name });
    const live = found?.data ?? {};
    const data = Object.fromEntries(
      Object.entries(texts).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    );
    if (passwordLength !== undefined && !live.password) {
      const password = text(random, passwordLength, ALPHANUMERIC);
      this.#onSecret(password);
      data.password = Buffer.from(password).toString("base64");
    }
    const differs = Object.entries(data).some(([key, value]) => live[key] !== value);
    const ownerReferences = [controllerReference(VinoNode, owner)];
    if (found === undefined)
      await client.create(Secret, { metadata: { namespace, name, ownerReferences }, type: "Opaque", data });
    else if (differs || !isOf(found, owner))
      await client.patch(
        Secret,
        { namespace, name },
        {
          type: "merge",
          body: { metadata: { resourceVersion: found.metadata.resourceVersion, ownerReferences }, data },
        },
      );
    this.#seen.set(id, { what, at: clock.now() });
  }
}

const isOf = (secret: Secret, owner: VinoNode): boolean =>
  secret.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) === true;
