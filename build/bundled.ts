import type { UserConfig } from 'vite'

/**
 * How a program of Node’s is bundled. Everything becomes part of it, since one file is read faster than a thousand, but
 * what is native or finds parts of itself beside its own files.
 */
export const bundled: Pick<UserConfig, 'ssr' | 'define'> = {
  ssr: { noExternal: true, external: ['electron', 'keytar', 'ssh2', 'cpu-features'] },
  // Some bundled packages are CommonJS and ask for their own place.
  define: { __filename: 'import.meta.filename', __dirname: 'import.meta.dirname' },
}
