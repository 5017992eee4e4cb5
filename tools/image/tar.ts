/** GNU tar's options for an archive that depends on names and contents alone: owned by root, readable by all, without times, in the order of names. */
export const packedAlike: readonly string[] = [
  ...["--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--mode=u=rwX,go=rX", "--format=ustar"],
];
