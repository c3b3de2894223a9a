import type { UserConfig } from 'vite'

/**
 * How a program of Node’s is bundled. Everything becomes part of it, since one file is read faster than a thousand, but
 * what is native or finds parts of itself beside its own files.
 */
export const bundled: Pick<UserConfig, 'ssr' | 'define' | 'resolve'> = {
  ssr: { noExternal: true, external: ['electron', 'keytar', 'ssh2', 'cpu-features'] },
  // What it gives to Node is two CommonJS builds, of which one is used.
  resolve: { alias: [{ find: /^mutative$/, replacement: 'mutative/dist/mutative.esm.mjs' }] },
  // Some bundled packages are CommonJS and ask for their own place.
  define: { __filename: 'import.meta.filename', __dirname: 'import.meta.dirname' },
}
