/** Dex as SIP sets it up, with users that tests know, and the settings by which a kube-apiserver takes its tokens. */
import { mkdirSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { systemClock as clock } from "@slipway/base";
import type { Transport } from "@slipway/kube";
import { findAssets } from "../../src/kubernetes/assets.ts";
import { KeptProcess } from "../../src/kubernetes/kept-process.ts";
import type { Provider } from "../../src/lab/vino/dex-login.ts";
import { dexKeys } from "../../src/systems/sip/services/auth/dex-certificate.ts";
import { CLIENT_ID, dexConfig } from "../../src/systems/sip/services/auth/dex-config.ts";
import { oidcSettings } from "../../src/systems/sip/services/auth/oidc-settings.ts";
import { freePort } from "./free-port.ts";

export const HOST = "127.0.0.1";
export const ADA = { name: "ada@example.org", password: "password" };
/** Named as if Kubernetes itself had made her. */
export const EVE = { name: "system:eve@example.org", password: "password" };
/** As Dex has it for whoever takes the connector mockCallback. */
export const MOCK = { username: "kilgore@kilgore.trout", groups: ["authors"] };

const PROGRAMS = ["etcd", "kube-apiserver", "dex"];
const PATIENCE_MS = 120_000;

/** Why it can't be had here; undefined: it can. */
export async function whyNoDex(): Promise<string | undefined> {
  return await findAssets(process.env, PROGRAMS).then(
    () => undefined,
    (error: Error) => `${error.message}; run \`make kube-assets NAMES=dex\``,
  );
}

export interface Started {
  provider: Provider;
  settings: Record<string, string>;
}

/** Dex with the configuration and the certificate that SIP gives it, but for where it listens, and for more places that it sends users back to. */
export async function startDex(t: TestContext, folder: string, redirects: readonly string[] = []): Promise<Started> {
  const port = await freePort();
  const issuer = `https://${HOST}:${port}/dex`;
  const keys = await dexKeys({}, { host: HOST, clock });
  const tls = join(folder, "tls");
  mkdirSync(tls);
  for (const name of ["tls.crt", "tls.key"]) writeFileSync(join(tls, name), keys[name]!, { mode: 0o600 });
  const file = join(folder, "config.yaml");
  const connectors = [{ type: "mockCallback", id: "mock", name: "Mock" }];
  // bcrypt of `password`.
  const hash = "$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W";
  const staticPasswords = [
    { email: ADA.name, hash, username: "ada", userID: "08a8684b-db88-4b73-90a9-3cd1661f5466" },
    { email: EVE.name, hash, username: "eve", userID: "5c6f4b1e-3a67-4f5b-9f53-0c9f9a9e7c11" },
  ];
  const config = JSON.parse(dexConfig({ issuer, connectors, staticPasswords }, { listen: `${HOST}:${port}`, tls })) as {
    staticClients: { redirectURIs: string[] }[];
  };
  for (const { redirectURIs } of config.staticClients) redirectURIs.push(...redirects);
  writeFileSync(file, JSON.stringify(config));
  const dex = new KeptProcess({
    ...{ command: join(await findAssets(process.env, PROGRAMS), "dex"), args: ["serve", file] },
    ...{ logFile: join(folder, "dex.log"), orphaned: "KILL" },
  });
  t.after(() => dex.stop("KILL"));
  const ca = keys["ca.crt"]!;
  const end = clock.monotonic() + PATIENCE_MS;
  while (!(await isHealthy(`${issuer}/healthz`, ca))) {
    if (clock.monotonic() > end || !dex.running) throw new Error(`Dex does not answer:\n${await dex.lastWords()}`);
    await clock.sleep(100);
  }
  return {
    provider: { issuer, ca, clientId: CLIENT_ID, redirectUri: "http://localhost:8000" },
    settings: oidcSettings({ issuer, caPem: ca }),
  };
}

async function isHealthy(url: string, ca: string): Promise<boolean> {
  return await new Promise((resolve) => {
    get(url, { ca, timeout: 10_000 }, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    }).on("error", () => resolve(false));
  });
}

/** The settings as kube-apiserver takes them; the authority's file is in the folder. */
export function oidcFlags(by: "flags" | "file", settings: Record<string, string>, folder: string): string[] {
  const place = (key: string): string => {
    writeFileSync(join(folder, key), settings[key]!);
    return join(folder, key);
  };
  if (by === "file") return [`--authentication-config=${place("authentication-config.yaml")}`];
  const flags = settings["kube-apiserver-flags"]!.trim().split("\n");
  return flags.map((flag) => (flag.startsWith("--oidc-ca-file=") ? `--oidc-ca-file=${place("ca.crt")}` : flag));
}

/** Who kube-apiserver takes the token's bearer for. It learns the provider's keys a moment after its start. */
export async function whoIs(transport: Transport): Promise<{ username: string; groups: string[] }> {
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
  const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
  const end = clock.monotonic() + PATIENCE_MS;
  for (;;) {
    const answer = await transport.request({ method: "POST", path, body });
    if (answer.status === 201) {
      const { username, groups } = (answer.body as { status: { userInfo: { username: string; groups: string[] } } })
        .status.userInfo;
      return { username, groups: groups.toSorted() };
    }
    if (clock.monotonic() > end) throw new Error(`nobody: ${answer.status} ${JSON.stringify(answer.body)}`);
    await clock.sleep(200);
  }
}
