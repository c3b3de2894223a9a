import { drawAppIcons } from './app-icons.ts'
import { buildAll } from './dist.ts'
import { writeLicences } from './licences.ts'
import { at } from './places.ts'
import { runTool } from './run.ts'

/**
 * `npm run package`: builds all targets of electron-builder.yml for this system into release/. Arguments after `--` go
 * to electron-builder: `npm run package -- --linux deb`, or `-c.publish.url=https://…` for updates from there.
 */
await buildAll({ quiet: true, force: false })
await drawAppIcons(at('dist/app-icons'))
await writeLicences(at('dist/licences.txt'))
process.exitCode = await runTool('electron-builder', ['--publish', 'never', ...process.argv.slice(2)], {
  ...process.env,
  CUSTOM_FPM_PATH: at('build/linux/fpm.ts'),
})
