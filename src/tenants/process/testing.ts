/** For tests: programs that stand in for a plane's, each answering at the ports and with the certificates that its flags name. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * What each of them runs. `NAME.status` in the programs' folder is what it answers to questions for its health (200 unless said), `NAME.end`
 * the text with which it ends at its start. It writes its arguments into `NAME.args`.
 */
const PROGRAM = `
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as plain } from "node:http";
import { createServer as rpc } from "node:http2";
import { createServer as secure } from "node:https";
import { basename, dirname, join } from "node:path";

const [, , self, ...args] = process.argv;
const name = basename(self);
const file = (of) => join(dirname(self), name + "." + of);
const read = (of, or) => (existsSync(file(of)) ? readFileSync(file(of), "utf8") : or);
const flag = (of) => args.find((each) => each.startsWith("--" + of + "="))?.slice(of.length + 3);
writeFileSync(file("args"), JSON.stringify({ args, endpoint: process.env.KINE_ENDPOINT }));
const end = read("end");
if (end !== undefined) {
  console.error(end);
  process.exit(3);
}
process.on("uncaughtException", ({ message }) => {
  console.error(message);
  process.exit(1);
});
const answer = (request, response) => {
  response.statusCode = Number(read("status", "200"));
  response.setHeader("content-type", "application/json");
  response.end(request.url === "/version" ? JSON.stringify({ gitVersion: read("version", "v1.36.3") }) : '"ok"');
};
if (name === "kine") {
  const server = rpc();
  server.on("stream", (stream) => {
    stream.resume();
    const trailers = read("status", "0") === "0" ? { "grpc-status": "0" } : { "grpc-status": "14", "grpc-message": "no database" };
    stream.respond({ ":status": 200 }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(trailers));
    stream.end(Buffer.alloc(5));
  });
  const socket = flag("listen-address").slice("unix://".length);
  rmSync(socket, { force: true });
  server.listen(socket);
} else if (name === "konnectivity-server") plain(answer).listen(Number(flag("health-port")), flag("health-bind-address"));
else {
  const pki = flag("kubeconfig") === undefined ? dirname(flag("tls-cert-file")) : dirname(flag("kubeconfig"));
  const tls = { cert: readFileSync(join(pki, "apiserver.crt")), key: readFileSync(join(pki, "apiserver.key")) };
  secure(tls, answer).listen(Number(flag("secure-port")), flag("bind-address"));
}
`;

const NAMES = ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "kine", "konnectivity-server"] as const;
type Name = (typeof NAMES)[number];

export interface StandIns {
  path(name: Name): string;
  /** What the program answers, or how it ends, from now on. */
  set(name: Name, what: "status" | "end" | "version", text: string): void;
  /** With what it was started last. */
  started(name: Name): { args: string[]; endpoint?: string };
}

/** Writes the programs into the folder. */
export function standIns(dir: string): StandIns {
  const program = join(dir, "program.mjs");
  writeFileSync(program, PROGRAM);
  for (const name of NAMES) {
    writeFileSync(join(dir, name), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$0" "$@"\n`);
    chmodSync(join(dir, name), 0o755);
  }
  return {
    path: (name) => join(dir, name),
    set: (name, what, text) => writeFileSync(join(dir, `${name}.${what}`), text),
    started: (name) => JSON.parse(readFileSync(join(dir, `${name}.args`), "utf8")) as ReturnType<StandIns["started"]>,
  };
}
