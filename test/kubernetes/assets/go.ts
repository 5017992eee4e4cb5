import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "@slipway/base";
import type { Binary } from "./binary.ts";

const LAST_WORDS = 12;

/** The arguments with which `go` builds a binary: without paths of this machine, from exactly what `go.sum` names. */
export function buildArguments(binary: Binary, output: string): string[] {
  const verb = binary.test ? ["test", "-c"] : ["build"];
  const choice =
    binary.requirements === undefined
      ? tagged(binary.tags)
      : [`-modfile=${binary.requirements}`, ...tagged(tags(binary))];
  const flags = ["-mod=readonly", ...choice, "-trimpath", `-ldflags=${linkerFlags(binary)}`];
  return [...verb, ...flags, "-o", output, binary.package];
}

function tagged(tags: string | undefined): string[] {
  return tags === undefined ? [] : [`-tags=${tags}`];
}

const FIRST_MINOR = 27;

/** `kubernetes_1_27` to that of the version, as Go has `go1.N`: what is built for several versions says by them since when it holds. */
function tags({ kubernetes = "1.0" }: Binary): string {
  const last = Number(kubernetes.split(".")[1]);
  const minors = Array.from({ length: Math.max(0, last - FIRST_MINOR + 1) }, (_, at) => FIRST_MINOR + at);
  return minors.map((minor) => `kubernetes_1_${minor}`).join(",");
}

function linkerFlags({ kubernetes, cgo }: Binary): string {
  const flags = ["-s", "-w"];
  if (cgo) flags.push("-linkmode=external", "-extldflags=-static");
  if (kubernetes !== undefined) {
    const [major, minor] = kubernetes.split(".");
    const version = { gitVersion: `v${kubernetes}`, gitMajor: major, gitMinor: minor };
    for (const [name, value] of Object.entries(version))
      flags.push("-X", `k8s.io/component-base/version.${name}=${value}`);
  }
  return flags.join(" ");
}

/** Changes whenever the binary would: with its line, its module's requirements, and its source where that is ours. */
export function buildKey(binary: Binary, sources: string): string {
  const module = join(sources, binary.module);
  const hash = createHash("sha256").update(JSON.stringify(buildArguments(binary, "")));
  const requirements = binary.requirements ?? "go.mod";
  for (const file of [requirements, requirements.replace(/\.mod$/, ".sum")])
    hash.update(readFileSync(join(module, file)));
  if (binary.package.startsWith("./")) {
    const folder = join(module, binary.package);
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)));
  }
  return hash.digest("hex");
}

/** Builds one binary. Rejects with a `Fault` that quotes Go's last words, or says how to get Go. */
export async function goBuild(binary: Binary, options: { sources: string; output: string; go: string }): Promise<void> {
  const { sources, output, go } = options;
  const target = binary.architecture === undefined ? {} : { GOARCH: binary.architecture };
  const child = spawn(go, buildArguments(binary, output), {
    cwd: join(sources, binary.module),
    env: { ...process.env, CGO_ENABLED: binary.cgo ? "1" : "0", GOFLAGS: "-buildvcs=false", GOWORK: "off", ...target },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => said.push(text));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", (cause) => reject(noGo(go, cause)));
    child.on("close", resolve);
  });
  if (code === 0) return;
  const last = said.join("").trimEnd().split("\n").slice(-LAST_WORDS).join("\n");
  throw new Fault("Internal", binary.name, `go ended with ${code}\n${last}`);
}

function noGo(go: string, cause: Error): Fault {
  return new Fault("NotFound", go, "Go is needed to build Kubernetes' binaries", {
    remedy: "install Go 1.26 or newer (https://go.dev/dl), or set KUBEBUILDER_ASSETS to a folder that has the binaries",
    cause,
  });
}
