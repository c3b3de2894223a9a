import { dirname } from 'node:path'
import { electronForTests } from './electron/here.ts'
import { at } from './places.ts'
import { runScript, runTool } from './run.ts'
import { isInstalled, mayInstall } from './system-parts.ts'

/**
 * `npm run package:try`: packs Berth for Linux around the Electron of the tests, and starts that package. Where packages
 * may be installed here, a deb is also installed, upgraded and removed again, for which an earlier version is made.
 */
const { program, version } = await electronForTests()
const kinds = [...(isInstalled('dpkg-deb') ? ['deb'] : []), ...(isInstalled('rpmbuild') ? ['rpm'] : [])]
const upgrades = kinds.includes('deb') && mayInstall()

function pack(targets: readonly string[], name: string, ...more: string[]): Promise<number> {
  const electron = [`-c.electronDist=${dirname(program)}`, `-c.electronVersion=${version}`]
  const names = targets.map(kind => `-c.${kind}.artifactName=${name}.${kind}`)
  // Nobody downloads them: fast is better than small.
  const compression = ['-c.deb.compression=gz', '-c.rpm.compression=gzip']
  return runScript('package.ts', '--linux', ...targets, ...electron, ...names, ...compression, ...more)
}

const tried = {
  ...process.env,
  BERTH_SHIPPED: at('release/linux-unpacked/berth'),
  BERTH_DEBS: upgrades ? [at('release/before.deb'), at('release/now.deb')].join(':') : '',
  BERTH_RPM: kinds.includes('rpm') ? at('release/now.rpm') : '',
}
process.exitCode =
  (upgrades ? await pack(['deb'], 'before', '-c.extraMetadata.version=0.0.1') : 0) ||
  (await pack(kinds.length > 0 ? kinds : ['--dir'], 'now')) ||
  (await runTool('vitest', ['run', 'test/electron/shipped'], tried))
