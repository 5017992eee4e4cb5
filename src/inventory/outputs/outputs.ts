/**
 * What machines say while they boot and run, for those who want to read it: the port between who has such output (netboot, a BMC, the lab's
 * machines) and who shows it (the console). It must not know who reads: whether somebody may is asked before.
 */
import type { KubeObject } from "@slipway/kube";
import type { OutputTail } from "./tail.ts";

/** A machine's output, as long as somebody reads it. */
export interface OpenOutput {
  tail: OutputTail;
  /** To be called once, when nobody reads it here any more. */
  done(): void;
}

/** The output of the machine that the object stands for; undefined: there is none. Rejects with a `Fault` that says why it can't be had. */
export type OutputOf = (object: KubeObject) => Promise<OpenOutput | undefined>;

/** Absent: nobody has such output of any machine. */
export interface MachineOutputs {
  /** Of the serial console. */
  serial?: OutputOf;
  /** Of the boot: what was asked for over the network, syslog, the agent. */
  logs?: OutputOf;
}

/** The outputs of several: the first that has one of a machine. */
export function joinedOutputs(all: readonly MachineOutputs[]): MachineOutputs {
  const of = (name: keyof MachineOutputs): MachineOutputs => {
    const sources = all.flatMap((outputs) => outputs[name] ?? []);
    if (sources.length === 0) return {};
    const first: OutputOf = async (object) => {
      for (const source of sources) {
        const found = await source(object);
        if (found !== undefined) return found;
      }
      return undefined;
    };
    return { [name]: first };
  };
  return { ...of("serial"), ...of("logs") };
}
