/** Kubernetes' own end-to-end suite as a program: which specs there are, and how one of them ends on a server. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { systemClock } from "@slipway/base";
import { KeptProcess } from "../../../src/kubernetes/kept-process.ts";

export type Outcome = "passed" | "failed" | "skipped" | "timed out";

export interface Result {
  outcome: Outcome;
  seconds: number;
  /** What the suite said first when it failed. */
  why: string;
}

interface SpecReport {
  ContainerHierarchyTexts: string[] | null;
  LeafNodeType: string;
  LeafNodeText: string;
  State: string;
}

const LISTED = ["--ginkgo.focus=\\[sig-api-machinery\\]", "--ginkgo.label-filter=Conformance && !Slow"];

/** The names of the API's conformance specs, by the suite's own word, in order. */
export async function listSpecs(assets: string): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-specs-"));
  try {
    const report = join(dir, "report.json");
    const args = ["--provider=skeleton", "--ginkgo.dry-run", `--ginkgo.json-report=${report}`, ...LISTED];
    await promisify(execFile)(join(assets, "e2e.test"), args, { maxBuffer: 1 << 28 });
    const [suite] = JSON.parse(await readFile(report, "utf8")) as { SpecReports: SpecReport[] }[];
    return suite!.SpecReports.filter((spec) => spec.LeafNodeType === "It" && spec.State === "passed")
      .map((spec) => [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(" "))
      .sort();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

export interface RunOptions {
  assets: string;
  kubeconfigFile: string;
  /** What the suite prints goes there. */
  logFile: string;
  timeoutMs: number;
}

/** Runs one spec in a process of its own. */
export async function runSpec(
  name: string,
  { assets, kubeconfigFile, logFile, timeoutMs }: RunOptions,
): Promise<Result> {
  const began = systemClock.now();
  const suite = new KeptProcess({
    command: join(assets, "e2e.test"),
    args: [
      `--kubeconfig=${kubeconfigFile}`,
      `--kubectl-path=${join(assets, "kubectl")}`,
      "--provider=skeleton",
      "--allowed-not-ready-nodes=-1",
      "--minStartupPods=0",
      "--dump-logs-on-failure=false",
      "--ginkgo.no-color",
      `--ginkgo.focus=${literally(name)}$`,
    ],
    logFile,
  });
  let late = false;
  const timer = systemClock.after(timeoutMs, () => {
    late = true;
    void suite.stop("KILL");
  });
  const code = await suite.gone;
  timer.cancel();
  const said = await readFile(logFile, "utf8");
  const seconds = (systemClock.now() - began) / 1000;
  return { ...judge(said, code, late), seconds };
}

/** Reads the suite's summary; a spec that did not run at all has failed. */
export function judge(said: string, code: number, late: boolean): { outcome: Outcome; why: string } {
  if (late) return { outcome: "timed out", why: firstFailure(said) };
  const [, passed] = /(\d+) Passed \| \d+ Failed/.exec(said) ?? [];
  if (code === 0 && passed === "1") return { outcome: "passed", why: "" };
  if (code === 0 && said.includes("[SKIPPED]")) return { outcome: "skipped", why: "" };
  return { outcome: "failed", why: firstFailure(said) };
}

/** What the suite gives as the reason: the second time it says FAILED, after the time line. */
function firstFailure(said: string): string {
  const [, failure] = /^ *\[(?:FAILED|PANICKED|TIMEDOUT)\] (?!in \[|\[)([\s\S]*?)\n *In \[/m.exec(said) ?? [];
  const lines = said.split("\n").filter((line) => line !== "" && !/^S+$/.test(line));
  return (failure ?? lines.slice(-5).join("\n")).trim();
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
