import { createReadStream, readFileSync, statSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Descriptor } from "../../../tools/image/oci.ts";

/** Serves images out of OCI layouts, as a registry does to who pulls (OCI distribution specification 1.1). */
export class Registry {
  readonly url: string;
  readonly #server: Server;
  /** Layouts by what is asked for: `kube-apiserver`, `v1.36.3`. */
  readonly #layouts = new Map<string, string>();

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async start(address: string): Promise<Registry> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, address, resolve));
    const { port } = server.address() as AddressInfo;
    const made = new Registry(server, `http://${address}:${port}`);
    server.on("request", ({ url = "", method }, response) => {
      const [, name = "", what, reference = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([^?]+)/.exec(url) ?? [];
      if (/^\/v2\/?(\?|$)/.test(url)) return void response.end();
      const layout = layoutOf(made.#layouts, name, reference);
      const found = layout === undefined ? undefined : blobOf(layout, what === "manifests", reference);
      if (found === undefined) return void response.writeHead(404).end();
      const { file, digest, mediaType } = found;
      response.setHeader("content-type", mediaType);
      response.setHeader("docker-content-digest", digest);
      response.setHeader("content-length", statSync(file).size);
      if (method === "HEAD") return void response.end();
      pipeline(createReadStream(file), response).catch(() => {});
    });
    return made;
  }

  /** `name` without the registry, with its tag: `kube-apiserver:v1.36.3`. `layout`: the folder. */
  add(name: string, layout: string): void {
    const [repository = "", tag = ""] = name.split(":");
    this.#layouts.set(repository, layout);
    this.#layouts.set(`${repository}:${tag}`, layout);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const isDigest = (reference: string): boolean => reference.startsWith("sha256:");

function layoutOf(layouts: ReadonlyMap<string, string>, name: string, reference: string): string | undefined {
  return layouts.get(isDigest(reference) ? name : `${name}:${reference}`);
}

interface Found {
  file: string;
  digest: string;
  mediaType: string;
}

/** A manifest by tag or digest, or a blob by digest. */
function blobOf(layout: string, isManifest: boolean, reference: string): Found | undefined {
  const { manifests } = JSON.parse(readFileSync(join(layout, "index.json"), "utf8")) as { manifests: Descriptor[] };
  const digest = isDigest(reference) ? reference : manifests[0]!.digest;
  const file = join(layout, "blobs", digest.replace(":", "/"));
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  return { file, digest, mediaType: isManifest ? manifests[0]!.mediaType : "application/octet-stream" };
}
