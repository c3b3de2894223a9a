import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

/** A day of the world runs against the clock: with few others beside it. */
const day = 'test/integration/core/day.test.ts'

export default defineConfig({
  test: {
    pool: 'forks',
    // Far beyond what anything takes: they end what hangs, and time nothing.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        extends: true,
        plugins: [svelte()],
        test: { name: 'integration', include: ['test/integration/**/*.test.ts'], exclude: [day] },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/{e2e,electron}/**/*.test.ts', day],
          testTimeout: 120_000,
        },
      },
    ],
  },
})
