import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Clock, closeAll, type Log } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import type { Client } from "@slipway/kube";
import { below } from "../../netboot/files/below.ts";
import type { FileSource } from "../../netboot/files/source.ts";
import { answerFile } from "../../netboot/http/file-answer.ts";
import { createAuthority, issueServer } from "../../pki/authority.ts";
import { seedSite } from "../../sim/site/seed.ts";
import { createHarvesterSite } from "../../sim/site/site.ts";
import { LAB } from "../rack.ts";
import { SITE_SILENT_MS, standInCluster } from "./cluster.ts";
import { installerDesk, PLAN_PATH } from "./installer-desk.ts";
import { isoRelease } from "./iso-release.ts";
import { releaseNames, STAND_IN_VERSION, standInRelease } from "./release.ts";

const run = promisify(execFile);
const PATH = { PATH: "/usr/sbin:/sbin:/usr/bin:/bin" };

/** The cluster's address, in the machines' network. */
export const VIP = "10.77.0.2";
const HTTPS = 443;
const RELEASE_PORT = 8091;

export interface StandIn {
  /** What an InstancePool says as `isoUrl`. */
  isoUrl: string;
  close(): Promise<void>;
}

export interface StandInOptions {
  /** Of `make agent`. */
  assets: string;
  /** For what is made of them. */
  dir: string;
  joinToken: string;
  /** A real release, in the place of the stand-in's. Its installer is the real one; the cluster is not. */
  iso?: string;
  client: Client;
  clock: Clock;
  log: Log;
}

/**
 * Serves the stand-in for Harvester in the rack's network: its release, the desk of its installer, and the cluster that its systems join, which shows itself
 * in the API behind `client`. Rejects when a part can't be had; nothing is left open then. Whoever calls closes it.
 */
export async function serveStandIn(options: StandInOptions): Promise<StandIn> {
  const { client, clock, joinToken, log } = options;
  const open: (() => Promise<unknown>)[] = [];
  try {
    const folder = join(options.dir, "stand-in");
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const base = `http://${LAB.address}:${RELEASE_PORT}`;
    const real = options.iso === undefined ? undefined : await isoRelease(options.iso);
    const files = real?.files ?? (await standInRelease(options.assets, folder, `${base}${PLAN_PATH}`));
    const version = real?.version ?? STAND_IN_VERSION;
    const kind = real === undefined ? "stand-in" : "release";
    const release = await serveHttp(installerDesk, {
      host: LAB.address,
      port: RELEASE_PORT,
      stream: streamOf(below(kind, files), log),
      log,
    });
    open.push(() => release.close());

    await seedSite(client, { vip: VIP, version: siteVersion(version), vipMode: "static" });
    const site = createHarvesterSite({ client, clock, joinToken, vip: VIP, silentMs: SITE_SILENT_MS });
    open.push(async () => site.close());
    await site.start();
    const cluster = standInCluster({ site, joinToken, clock });
    open.push(async () => cluster.close());
    open.push(await serveAtVip(cluster.handler, { clock, log }));
    return { isoUrl: `${base}/${kind}/${releaseNames(version).iso}`, close: () => closeAll(open) };
  } catch (error) {
    await closeAll(open);
    throw error;
  }
}

/** A release whose name has a number is what the cluster shows itself as. */
function siteVersion(version: string): string {
  return /^v1\.\d+/.test(version) ? version : STAND_IN_VERSION;
}

/** The address beside our own, and HTTPS at it. Resolves with what takes both away. */
async function serveAtVip(
  handler: Parameters<typeof serveHttp>[0],
  { clock, log }: Pick<StandInOptions, "clock" | "log">,
): Promise<() => Promise<void>> {
  await run("ip", ["address", "add", `${VIP}/32`, "dev", "lo"], { env: PATH });
  const remove = (): Promise<unknown> => run("ip", ["address", "delete", `${VIP}/32`, "dev", "lo"], { env: PATH });
  try {
    const authority = await createAuthority({ commonName: "stand-in for Harvester", clock });
    const { certificatePem: cert, keyPem: key } = await issueServer(authority, {
      commonName: VIP,
      hosts: [VIP],
      clock,
    });
    const server = await serveHttp(handler, { host: VIP, port: HTTPS, tls: { cert, key }, log });
    return () => closeAll([remove, () => server.close()]);
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Files are asked for by GET; what is said to the desk is not. */
function streamOf(files: FileSource, log: Log): NonNullable<NonNullable<Parameters<typeof serveHttp>[1]>["stream"]> {
  return (request, response) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    void answerFile(files, request, response, { log });
    return true;
  };
}
