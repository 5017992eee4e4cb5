import { createHash } from "node:crypto";
import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { replacePrivateFile } from "@slipway/base";
import type { Plane } from "../plane.ts";

/** Texts by their path below the folder. */
export type FileTexts = Readonly<Record<string, string>>;

/** A plane's files in one folder, open to its owner alone: written when they change, removed when they are no longer wanted. */
export class PlaneFiles {
  readonly #dir: string;
  /** What is known to be there. */
  readonly #there = new Map<string, string>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  path = (name: string): string => join(this.#dir, name);

  /** Brings the folder to these texts. Resolves with a mark of all of them. */
  async keep(files: FileTexts): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      const held = this.#there.get(name) ?? (await readFile(this.path(name), "utf8").catch(() => undefined));
      if (held !== text) {
        await mkdir(dirname(this.path(name)), { recursive: true, mode: 0o700 });
        await replacePrivateFile(this.path(name), text);
      }
      this.#there.set(name, text);
    }
    for (const name of [...this.#there.keys()].filter((name) => files[name] === undefined)) {
      await rm(this.path(name), { force: true });
      this.#there.delete(name);
    }
    return createHash("sha256").update(JSON.stringify(files)).digest("hex");
  }
}

/** What the programs of a plane read. */
export function filesOf({ pki, kubeconfigs, store, oidc }: Plane): FileTexts {
  const files: Record<string, string | undefined> = {
    "ca.crt": pki.ca.cert,
    "ca.key": pki.ca.key,
    "apiserver.crt": pki.apiServer.cert,
    "apiserver.key": pki.apiServer.key,
    "apiserver-kubelet-client.crt": pki.apiServerKubeletClient.cert,
    "apiserver-kubelet-client.key": pki.apiServerKubeletClient.key,
    "front-proxy-ca.crt": pki.frontProxyCa.cert,
    "front-proxy-client.crt": pki.frontProxyClient.cert,
    "front-proxy-client.key": pki.frontProxyClient.key,
    "sa.pub": pki.accounts.publicKey,
    "sa.key": pki.accounts.privateKey,
    "controller-manager.conf": kubeconfigs.controllerManager,
    "scheduler.conf": kubeconfigs.scheduler,
    "oidc/ca.crt": oidc?.ca,
    "etcd/ca.crt": store?.tls?.ca ?? store?.kine?.ca,
    "etcd/server.crt": store?.tls?.cert,
    "etcd/server.key": store?.tls?.key,
  };
  return Object.fromEntries(Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
