import type { Command } from "commander";

/** A verb adds itself to the program. */
export type Verb = (program: Command) => void;
