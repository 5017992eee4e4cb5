/** What the images of a SIPCluster's services are made of. */
import { chmodSync, copyFileSync, globSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PLACES, USER } from "../../src/systems/sip/services/jump/ssh-files.ts";

/** Programs that are built from Go modules (test/kubernetes/assets). */
export type GoProgram = "dex" | "kubectl";

export interface ServiceImage {
  name: string;
  /** Debian's, with what they depend on. */
  packages: readonly string[];
  programs: readonly GoProgram[];
  /** Texts by their paths. */
  files: Readonly<Record<string, string>>;
  /** Targets by the links' paths. */
  links: Readonly<Record<string, string>>;
  /** Its programs need nothing of the packages but what is in `etc`. */
  isStatic?: true;
  /** Unset: Pods say what they run. */
  entrypoint?: readonly string[];
  /** Unset: TERM. */
  stopSignal?: string;
}

const NOBODY = "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n";
const SSHD = "sshd:x:101:65534:sshd:/run/sshd:/usr/sbin/nologin\n";
/** As the Pods of jump hosts have it: their files' group is 1000. */
const LOGIN = `${USER}:x:1000:1000:${USER}:/home/${USER}:/bin/bash\n`;
const ROOT = "root:x:0:0:root:/root:/bin/bash\n";

/**
 * sshd asks PAM, since it takes an account without a password for a locked one otherwise. Keys alone let anybody in: PAM is not asked for passwords.
 */
const PAM = [
  ...["auth required pam_deny.so", "account required pam_permit.so"],
  ...["password required pam_deny.so", "session required pam_permit.so"],
];
const NO_PAM = ["auth", "account", "password", "session"].map((type) => `${type} required pam_deny.so`);

export const SERVICE_IMAGES: readonly ServiceImage[] = [
  {
    name: "haproxy",
    packages: ["haproxy"],
    programs: [],
    files: { "etc/passwd": NOBODY, "etc/group": "nogroup:x:65534:\n" },
    links: {},
    // Where the Pods have it: the place of HAProxy's own image.
    entrypoint: ["/usr/sbin/haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"],
    // Connections may end by themselves; TERM cuts them.
    stopSignal: "SIGUSR1",
  },
  {
    name: "dex",
    packages: ["ca-certificates"],
    programs: ["dex"],
    isStatic: true,
    files: { "etc/passwd": NOBODY, "etc/group": "nogroup:x:65534:\n", "etc/nsswitch.conf": "hosts: files dns\n" },
    links: {},
    entrypoint: ["/usr/local/bin/dex"],
  },
  {
    name: "jump-host",
    packages: [
      ...["bash", "ca-certificates", "coreutils", "dash", "findutils", "grep", "iproute2", "less", "libpam-modules"],
      ...["openssh-client", "openssh-server", "procps", "python3", "sed"],
    ],
    programs: ["kubectl"],
    files: {
      "etc/passwd": `${ROOT}${LOGIN}${SSHD}${NOBODY}`,
      "etc/group": `root:x:0:\n${USER}:x:1000:\nnogroup:x:65534:\n`,
      "etc/shadow": `root:*:20000::::::\n${USER}:*:20000::::::\nsshd:!:20000::::::\n`,
      "etc/nsswitch.conf": "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n",
      "etc/pam.d/sshd": `${PAM.join("\n")}\n`,
      "etc/pam.d/other": `${NO_PAM.join("\n")}\n`,
      [`home/${USER}/.profile`]: "PS1='\\u@\\h:\\w\\$ '\n",
    },
    links: {
      "usr/local/bin/host": `${PLACES.scripts}/host`,
      "usr/bin/sh": "dash",
    },
  },
];

/** Folders that a package's installation would make. */
const FOLDERS = ["dev", "etc", "proc", "root", "run", "sys", "tmp", "var/lib", "var/log"];

/** Of Debian's packages, not needed in an image. Copyrights stay. */
const LEFT = [
  ...["etc/init.d", "etc/systemd", "etc/ufw", "usr/lib/systemd", "usr/share/bash-completion", "usr/share/bug"],
  ...[
    "usr/share/debconf",
    "usr/share/info",
    "usr/share/lintian",
    "usr/share/locale",
    "usr/share/man",
    "usr/share/menu",
  ],
  ...["usr/share/perl5", "usr/share/zoneinfo", "usr/share/i18n", "var/cache"],
];

/** Makes an image's files of what was unpacked. `program`: where a program from a Go module is; `authorities`: whose certificates are trusted. */
export function finishRoot(
  root: string,
  { programs, files, links, isStatic }: ServiceImage,
  { program, authorities }: { program(name: GoProgram): string; authorities: Buffer },
): void {
  const left = isStatic === true ? globSync("usr/{bin,sbin,lib,lib64,share/ca-certificates}", { cwd: root }) : [];
  for (const path of [...LEFT, ...left]) rmSync(join(root, path), { recursive: true, force: true });
  for (const folder of FOLDERS) mkdirSync(join(root, folder), { recursive: true });
  if (authorities.length > 0) write(join(root, "etc/ssl/certs/ca-certificates.crt"), authorities);
  for (const name of programs) {
    const to = join(root, "usr/local/bin", name);
    mkdirSync(dirname(to), { recursive: true });
    copyFileSync(program(name), to);
    chmodSync(to, 0o755);
  }
  for (const [path, text] of Object.entries(files)) write(join(root, path), text);
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    rmSync(join(root, path), { force: true });
    symlinkSync(target, join(root, path));
  }
}

function write(file: string, text: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
