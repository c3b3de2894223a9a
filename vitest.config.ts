import { svelte } from '@sveltejs/vite-plugin-svelte'
import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    pool: 'forks',
    // MB: room for what lives short, which is else swept each time that half a megabyte of it has come.
    execArgv: ['--min-semi-space-size=16'],
    // Far beyond what anything takes: they end what hangs, and time nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 45_000 } },
    projects: [
      // The files of a worker share what they import: none leaves anything behind.
      { extends: true, test: { name: 'unit', isolate: false, include: ['test/unit/**/*.test.ts'] } },
      {
        extends: true,
        plugins: [svelte()],
        test: {
          name: 'system',
          // They share what they import, and one browser: each test ends what it starts.
          isolate: false,
          globalSetup: 'test/before-all.ts',
          include: ['test/{integration,e2e,electron}/**/*.test.ts'],
          // Without the program that is shipped there is nothing to start.
          exclude: process.env['BERTH_SHIPPED']
            ? configDefaults.exclude
            : [...configDefaults.exclude, 'test/electron/shipped/**'],
          testTimeout: 240_000,
          maxConcurrency: 10,
          expect: { poll: { timeout: 60_000, interval: 100 } },
        },
      },
    ],
  },
})
