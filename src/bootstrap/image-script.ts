import { ipxeScript } from "../netboot/ipxe/script.ts";

const RETRY_SECONDS = 10;

export interface NetworkBoot {
  kernel: string;
  initrd: string;
  kernelArguments: readonly string[];
}

/**
 * The script that boots an image which takes its bootstrap data as cloud-init does: `user-data` and `meta-data` below `seedUrl`, which ends with
 * a slash. No failure ends it: a machine in a firmware menu could not be reached any more.
 */
export function imageScript({ kernel, initrd, kernelArguments }: NetworkBoot, seedUrl: string): string {
  return ipxeScript([
    { do: "label", name: "boot" },
    { do: "dhcp", otherwise: "retry" },
    {
      do: "kernel",
      url: kernel,
      args: ["initrd=initrd", ...kernelArguments, `ds=nocloud;s=${seedUrl}`],
      otherwise: "retry",
    },
    { do: "initrd", url: initrd, name: "initrd", otherwise: "retry" },
    { do: "boot", otherwise: "retry" },
    { do: "label", name: "retry" },
    { do: "echo", text: `The image could not be loaded; next attempt in ${RETRY_SECONDS} seconds` },
    { do: "imgfree" },
    { do: "sleep", seconds: RETRY_SECONDS },
    { do: "goto", label: "boot" },
  ]);
}
