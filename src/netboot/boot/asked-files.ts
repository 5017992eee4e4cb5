import type { FileSource } from "../files/source.ts";
import { BOOT_VALUE } from "../hosts/asked-boots.ts";

const ASKED = new RegExp(`^once/(${BOOT_VALUE})/+(.+)$`);

/** Where a loader is fetched with the one-time value of a boot in its URL. `loader`: the URL that the same loader has for everybody. */
export function askedUrl(loader: string, value: string): string {
  return new URL(`/once/${value}${new URL(loader).pathname}`, loader).href;
}

/**
 * The same files below a folder that is named by a boot's one-time value: firmware that is sent there fetches the first loader from it, and that the second.
 * `shown`: who asks shows the value. The files are everybody's, so what it is worth is of no account here. GRUB looks for its script
 * elsewhere, and forgets where it came from (Debian 13): the value gets no further.
 */
export function askedFiles(files: FileSource, shown: (address: string, value: string) => void): FileSource {
  return {
    async open(name, asker) {
      const [, value, file] = ASKED.exec(name) ?? [];
      if (value === undefined || file === undefined) return undefined;
      shown(asker.address, value);
      return await files.open(file, asker);
    },
  };
}
