import type { UserConfig } from 'vite'

/**
 * How programs for Node are bundled. One file is read faster than a thousand, so everything is bundled except native
 * packages and those that look for files beside their own.
 */
export const bundled: Pick<UserConfig, 'ssr' | 'define' | 'resolve'> = {
  ssr: { noExternal: true, external: ['electron', 'keytar', 'ssh2', 'cpu-features'] },
  // For Node it exports two CommonJS builds, of which one is used.
  resolve: { alias: [{ find: /^mutative$/, replacement: 'mutative/dist/mutative.esm.mjs' }] },
  define: {
    // Some bundled packages are CommonJS and use their own path.
    __filename: 'import.meta.filename',
    __dirname: 'import.meta.dirname',
    // Read at each use otherwise, which is slow, and not set where Berth runs: packages would check what they are given.
    'process.env.NODE_ENV': JSON.stringify('production'),
  },
}
