import { spawn } from "node:child_process";

export interface Ended {
  code: number;
  /** Both outputs. */
  text: string;
}

/** Runs a program to its end while this process goes on serving. */
export function program(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    for (const output of [child.stdout, child.stderr])
      output.setEncoding("utf8").on("data", (more: string) => {
        text += more;
      });
    child.once("error", reject);
    child.once("close", (code) => resolve({ code: code ?? 1, text }));
  });
}
