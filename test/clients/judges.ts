/** Clients of others that judge the simulated Packet API: packet-python from PyPI, packngo and equinix-sdk-go as Go modules, in the cache. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PYTHON = "packet-python==1.44.3";
const PROGRAM = join(import.meta.dirname, "program");

/** Where what is installed and built is kept. */
function cacheOf(env: NodeJS.ProcessEnv): string {
  const cache = join(env.XDG_CACHE_HOME || join(env.HOME ?? "/", ".cache"), "slipway", "clients");
  mkdirSync(cache, { recursive: true });
  return cache;
}

/** A Python that has packet-python; or, as `Error`, why there is none. */
export function packetPython(env: NodeJS.ProcessEnv): string | Error {
  const venv = join(cacheOf(env), PYTHON);
  const python = join(venv, "bin/python");
  if (existsSync(join(venv, "installed"))) return python;
  const trouble =
    run("python3", ["-m", "venv", venv]) ??
    run(join(venv, "bin/pip"), ["install", "--quiet", "--disable-pip-version-check", PYTHON]) ??
    run(python, ["-c", `import packet; open(${JSON.stringify(join(venv, "installed"))}, "w")`]);
  return trouble === undefined ? python : new Error(trouble);
}

/** The Go program with packngo and equinix-sdk-go in it; or, as `Error`, why there is none. */
export function goClients(env: NodeJS.ProcessEnv): string | Error {
  const sources = ["main.go", "go.mod", "go.sum"].map((file) => readFileSync(join(PROGRAM, file)));
  const hash = createHash("sha256").update(Buffer.concat(sources)).digest("hex").slice(0, 16);
  const program = join(cacheOf(env), `go-clients-${hash}`);
  if (existsSync(program)) return program;
  const trouble = run("go", ["build", "-o", program, "."], PROGRAM);
  return trouble === undefined ? program : new Error(trouble);
}

/** Undefined: it ended well. */
function run(command: string, args: readonly string[], cwd?: string): string | undefined {
  const { error, status, stderr } = spawnSync(command, args, { encoding: "utf8", ...(cwd !== undefined && { cwd }) });
  if (error !== undefined) return `${command}: ${error.message}`;
  return status === 0 ? undefined : `${command} ${args[0]}: ${stderr.trim().split("\n").at(-1) || `exit ${status}`}`;
}
