/**
 * The conversion webhook on a socket: TLS with the operator's certificate, which is written to the definitions of the kinds concerned
 * to trust. It is there only while some kind has versions that differ in more than their name.
 */
import { isDeepStrictEqual } from "node:util";
import { asFault, type Clock, isFault, type Log } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { type Access, type Client, declaredClient } from "@slipway/kube";
import { CustomResourceDefinition } from "@slipway/kube/core";
import { needsConversion } from "../kinds/conversion.ts";
import { crdOf, type CustomResourceDefinition as Definition, type WebhookClientConfig } from "../kinds/crd.ts";
import { isForeignDefinition } from "../kinds/install.ts";
import type { Kind } from "../kinds/kind.ts";
import { certificateAccess, keptCertificate, type TrustedCertificate } from "./conversion-certificate.ts";
import { CONVERT_PATH, conversionWebhook, MAX_REVIEW_BYTES } from "./conversion-webhook.ts";

/** Where it listens. */
export const WEBHOOK_PORT = 9443;
export const WEBHOOK_SERVICE = "slipway-webhook";
/** Of that Service. */
export const SERVICE_PORT = 443;
/** Between looks at the Secret and the definitions. */
const LOOK_MS = 60_000;

export interface ConversionServer {
  port: number;
  /** Writes the webhook's address to the definitions that exist: await it before they get more versions. */
  prepare(): Promise<void>;
  /**
   * Writes it to all definitions that exist, and keeps them and the certificate fresh from then on. Until it resolves, an API server may show
   * objects wrongly in other versions than they are stored in. A definition that is missing is logged, and written within a minute of its creation.
   */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface ConversionSettings {
  /** Every kind with all its versions. */
  kinds: readonly (readonly Kind[])[];
  /** Those of `kinds` whose definitions may be foreign: such a one is left alone. */
  mayBeForeign?: readonly (readonly Kind[])[];
  namespace: string;
  host: string;
  port: number;
  /** Base URL (https) at which API servers reach this port; unset: through the Service of an installation. */
  url?: (port: number) => string;
}

/** The kinds whose versions differ in more than their name. */
export function converted(kinds: readonly (readonly Kind[])[]): readonly (readonly Kind[])[] {
  return kinds.filter(needsConversion);
}

/** The way through the Service that is installed for it. */
export function throughService(namespace: string): WebhookClientConfig {
  return { service: { namespace, name: WEBHOOK_SERVICE, path: CONVERT_PATH, port: SERVICE_PORT } };
}

/** The rights that it needs: none without a kind to convert. */
export function conversionAccess(namespace: string, kinds: readonly (readonly Kind[])[]): readonly Access[] {
  const names = converted(kinds).map((versions) => crdOf(versions).metadata.name);
  if (names.length === 0) return [];
  return [...certificateAccess(namespace), { resource: CustomResourceDefinition, verbs: ["get", "patch"], names }];
}

/**
 * Listens, with the certificate that is kept in the cluster. Undefined when no kind needs it. Rejects when the Secret can't be read or
 * made, or the port can't be bound.
 */
export async function serveConversion(
  ports: { client: Client; clock: Clock; log: Log },
  { kinds, mayBeForeign = [], namespace, host, port, url }: ConversionSettings,
): Promise<ConversionServer | undefined> {
  const ours = converted(kinds);
  if (ours.length === 0) return undefined;
  const { clock, log } = ports;
  const client = declaredClient(ports.client, conversionAccess(namespace, ours), "conversion-webhook");
  const ended = new AbortController();
  const { signal } = ended;
  const hosts = [url === undefined ? `${WEBHOOK_SERVICE}.${namespace}.svc` : hostOf(url(port))];
  const find = () => keptCertificate(client, clock, { namespace, hosts }, signal);

  let served = await find();
  const server = await serveHttp(conversionWebhook(ours), {
    host,
    port,
    log,
    tls: tlsOf(served),
    maxBodyBytes: MAX_REVIEW_BYTES,
  });
  const way = url === undefined ? throughService(namespace) : { url: `${url(server.port)}${CONVERT_PATH}` };
  /** Returns the names of the definitions that are missing. */
  const publish = async (certificate: TrustedCertificate): Promise<string[]> => {
    const missing: string[] = [];
    for (const versions of ours) {
      const crd = crdOf(versions, { ...way, caBundle: Buffer.from(certificate.caPem).toString("base64") });
      await write(client, crd, mayBeForeign.includes(versions), signal).catch((error: unknown) => {
        if (!isFault(error, "NotFound")) throw error;
        missing.push(crd.metadata.name);
      });
    }
    return missing;
  };
  const look = async (): Promise<string[]> => {
    const found = await find();
    const missing = await publish(found);
    // Only what the definitions trust is shown.
    if (found.keyPem === served.keyPem) return missing;
    server.renew(tlsOf(found));
    served = found;
    log.info({}, "the conversion webhook has a new certificate");
    return missing;
  };
  const keepLooking = async (): Promise<void> => {
    for (;;) {
      await clock.sleep(LOOK_MS, signal);
      await look().catch((error: unknown) => {
        const { code, message } = asFault(error, "conversion webhook");
        if (!signal.aborted) log.warn({ code, message }, "the conversion webhook was not kept fresh");
      });
    }
  };
  let looking: Promise<void> = Promise.resolve();
  return {
    port: server.port,
    async prepare() {
      await publish(served);
    },
    async start() {
      const missing = await look();
      if (missing.length > 0) log.warn({ missing }, "the conversion webhook waits for definitions that are missing");
      looking = keepLooking().catch(() => {}); // ends by the signal alone
    },
    async close() {
      ended.abort(new DOMException("the conversion webhook is closed", "AbortError"));
      await looking;
      await server.close();
    },
  };
}

/** Leaves definitions of other owners alone. Rejects with `NotFound` when the definition is not there. */
async function write(
  client: Client,
  { metadata, spec }: Definition,
  mayBeForeign: boolean,
  signal: AbortSignal,
): Promise<void> {
  const held = await client.get(CustomResourceDefinition, metadata, { signal });
  if ((mayBeForeign && isForeignDefinition(held)) || isDeepStrictEqual(held.spec.conversion, spec.conversion)) return;
  const { url = null, service = null, caBundle } = spec.conversion!.webhook.clientConfig;
  // A merge, since an apply could not take away the other way, which the installer of the definition may own.
  const webhook = { ...spec.conversion!.webhook, clientConfig: { url, service, caBundle } };
  const body = { spec: { conversion: { ...spec.conversion, webhook } } };
  await client.patch(CustomResourceDefinition, metadata, { type: "merge", body }, { signal });
}

const tlsOf = ({ certificatePem, keyPem }: TrustedCertificate) => ({ cert: certificatePem, key: keyPem });
/** Without the brackets that an IPv6 address has in a URL. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
