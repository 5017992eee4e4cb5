/**
 * `make service-images`: writes `dist/service-images/NAME`, an OCI layout each of what Pods of SIPClusters run: HAProxy and the jump host from Debian's
 * packages, Dex from its Go module. For this machine's architecture. Same inputs, same digests. Push them with any tool for OCI layouts; needs
 * apt-get, dpkg-deb, GNU tar, Go and a C compiler. Arguments: names of those that are wanted; none: all.
 */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault, systemClock, VERSION } from "@slipway/base";
import { BINARIES } from "../../test/kubernetes/assets/binaries.ts";
import { provide } from "../../test/kubernetes/assets/provide.ts";
import { Apt, DEBIAN } from "../image/apt.ts";
import { cacheFolder } from "../image/cache.ts";
import type { Elf } from "../image/elf.ts";
import { writeImageLayout } from "../node-image/image-layout.ts";
import { authorities, unpackTree } from "../node-image/tree.ts";
import { finishRoot, SERVICE_IMAGES, type ServiceImage } from "./images.ts";

const dist = join(import.meta.dirname, "../../dist/service-images");
const architecture: Elf["architecture"] = process.arch === "arm64" ? "arm64" : "amd64";
const say = (text: string): void => console.log(`service-images: ${text}`);

try {
  const wanted = chosen(process.argv.slice(2));
  const names = wanted.flatMap(({ programs }) => programs);
  const sources = join(import.meta.dirname, "../../test/kubernetes/assets");
  const ports = { binaries: BINARIES, sources, env: process.env, clock: systemClock, say };
  // No names would be all of them.
  const assets = names.length === 0 ? "" : await provide({ ...ports, names });
  // An apt of its own: that of the operator's image forgets packages that it does not ask for.
  const apt = new Apt(join(cacheFolder(), `services-${DEBIAN.name}-${architecture}`), architecture);
  apt.update();
  for (const image of wanted) await write(image, apt, assets);
} catch (error) {
  if (!(error instanceof Fault)) throw error;
  console.error(`service-images: ${error.message}${error.remedy === undefined ? "" : `; ${error.remedy}`}`);
  process.exitCode = 1;
}

async function write(image: ServiceImage, apt: Apt, assets: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "slipway-service-"));
  try {
    const packages = apt.withDependencies(image.packages);
    unpackTree(root, apt.fetch(packages));
    finishRoot(root, image, { program: (name) => join(assets, name), authorities: authorities(root) });
    const folder = join(dist, image.name);
    mkdirSync(folder, { recursive: true });
    const { entrypoint = [], stopSignal } = image;
    await writeImageLayout(folder, {
      ...{ name: `slipway/${image.name}:${VERSION}`, architecture, root, entrypoint },
      ...(stopSignal !== undefined && { stopSignal }),
    });
    say(`${folder}: slipway/${image.name}:${VERSION}, ${packages.length} packages`);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function chosen(names: readonly string[]): readonly ServiceImage[] {
  const unknown = names.find((name) => !SERVICE_IMAGES.some((image) => image.name === name));
  if (unknown !== undefined)
    throw new Fault("Invalid", unknown, "there is no such image", {
      remedy: `take of ${SERVICE_IMAGES.map(({ name }) => name).join(", ")}`,
    });
  return SERVICE_IMAGES.filter(({ name }) => names.length === 0 || names.includes(name));
}
