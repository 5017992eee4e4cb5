import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream/promises";
import { type ProgramImage, programImage } from "./program-image.ts";

export interface Registry {
  url: string;
  close(): Promise<void>;
}

/** Serves programs as images (`serveImages`), each under its name. Rejects where a file can't be read, or the address can't be had. */
export async function serveProgramImages(
  programs: Readonly<Record<string, string>>,
  at: { host: string; port: number },
): Promise<Registry> {
  const images = new Map<string, ProgramImage>();
  for (const [name, file] of Object.entries(programs)) images.set(name, await programImage(file));
  return await serveImages(images, at);
}

/**
 * Serves images to who pulls (OCI distribution specification 1.1): each under its name, and under whatever tag is asked for. Rejects where the
 * address can't be had.
 */
export async function serveImages(
  images: ReadonlyMap<string, ProgramImage>,
  at: { host: string; port: number },
): Promise<Registry> {
  const server = createServer((request, response) => answer(images, request, response));
  server.listen(at.port, at.host);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${at.host}:${port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(images: ReadonlyMap<string, ProgramImage>, request: IncomingMessage, response: ServerResponse): void {
  const { url = "", method } = request;
  if (/^\/v2\/?(\?|$)/.test(url)) return void response.end();
  const [, name = "", what, reference = ""] = /^\/v2\/([^?]+)\/(manifests|blobs)\/([^?]+)/.exec(url) ?? [];
  const image = images.get(name);
  const digest = what === "manifests" && !reference.startsWith("sha256:") ? image?.digest : reference;
  const blob = digest === undefined ? undefined : image?.blobs.get(digest);
  if (digest === undefined || blob === undefined) return void response.writeHead(404).end();
  response.setHeader("content-type", what === "manifests" ? blob.mediaType : "application/octet-stream");
  response.setHeader("docker-content-digest", digest);
  response.setHeader("content-length", blob.size);
  if (method === "HEAD") return void response.end();
  // Who breaks off asks again.
  pipeline(blob.open(), response).catch(() => {});
}
