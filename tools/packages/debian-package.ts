import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "@slipway/base";
import type { Elf } from "../image/elf.ts";
import { run } from "../image/run.ts";

const ROOT = join(import.meta.dirname, "../..");
const SCRIPTS = join(import.meta.dirname, "debian");
/** Where the completion of each shell looks. */
const COMPLETIONS = {
  bash: "usr/share/bash-completion/completions/slipway",
  zsh: "usr/share/zsh/vendor-completions/_slipway",
  fish: "usr/share/fish/vendor_completions.d/slipway.fish",
} as const;

export interface Ingredients {
  architecture: Elf["architecture"];
  executable: string;
  /** Texts of licences, one file after the other. */
  licences: readonly string[];
  /** An empty folder, for what is packed. */
  work: string;
}

/** Writes `file`, a Debian package: command, plugin of kubectl, completions, examples, and the units of netboot (docs/netboot.md), which it does not start. */
export function writeDebianPackage(file: string, { architecture, executable, licences, work }: Ingredients): void {
  const place = (name: string): string => join(work, name);
  copy(executable, place("usr/bin/slipway"));
  for (const name of ["kubectl-slipway", "kubectl_complete-slipway"])
    copy(join(ROOT, "bin", name), place(`usr/bin/${name}`));
  for (const unit of ["slipway-netboot.service", "slipway-netboot.socket"])
    copy(join(ROOT, "examples/rack", unit), place(`usr/lib/systemd/system/${unit}`));
  cpSync(join(ROOT, "examples"), place("usr/share/slipway/examples"), { recursive: true });
  for (const [shell, path] of Object.entries(COMPLETIONS))
    write(place(path), run(join(ROOT, "bin/slipway"), ["completion", shell], { env: plainEnvironment() }));
  write(place("usr/share/doc/slipway/copyright"), licences.map((name) => readFileSync(name, "utf8")).join("\n"));

  const files = readdirSync(work, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + readFileSync(join(parentPath, name)).length, 0);
  for (const name of readdirSync(SCRIPTS)) copy(join(SCRIPTS, name), place(`DEBIAN/${name}`));
  write(place("DEBIAN/control"), control(architecture, Math.ceil(bytes / 1024)));
  run("chmod", ["-R", "u=rwX,go=rX", work]);
  const env = { ...process.env, SOURCE_DATE_EPOCH: "1" };
  run("dpkg-deb", ["--root-owner-group", "-Zzstd", "-z12", "--build", work, file], { env });
}

/** glibc and libstdc++ are those that Node's own builds are linked with. */
function control(architecture: Elf["architecture"], kibibytes: number): string {
  return `Package: slipway
Version: ${VERSION}
Architecture: ${architecture}
Maintainer: The Slipway authors
Section: admin
Priority: optional
Depends: libc6 (>= 2.28), libstdc++6 (>= 8), passwd
Recommends: ipmitool
Suggests: kubernetes-client, qemu-system-x86
Installed-Size: ${kibibytes}
Description: launches Kubernetes from bare metal
 Blank machines in, node pools and tenant clusters out. This package has the
 command, the units that boot the machines of a rack (netboot), a plugin of
 kubectl, and examples. It needs no Node.js. Nothing is started by installing it.
`;
}

/** Hints name the command as it is installed. */
function plainEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, SLIPWAY_CALLED_AS: "slipway" };
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to);
}

function write(file: string, content: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}
