import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { at } from '#build/places.ts'

/** The buttons of these screens and tabs that end with `…` are all pressed. */
const each = 'scanEach(page, '

/**
 * Where `test/e2e/axe.test.ts` opens each dialog that has a form or a content of its own, as words of it. Questions with
 * two buttons look alike.
 */
const scanned: Readonly<Record<string, string>> = {
  'features/limits/LimitDialog.svelte': '/^Stop it when…/',
  'frame/dialogs/AllDialogs.svelte': each,
  'frame/dialogs/ReportDialog.svelte': '/^Report a bug/',
  'frame/dialogs/ShortcutsDialog.svelte': "scan('shortcuts')",
  'frame/palette/Palette.svelte': "scan('palette')",
  'screens/account/Environment.svelte': '/^Add variable…/',
  'screens/account/keys/CreateKeyDialog.svelte': each,
  'screens/account/notifications/WebhookDialog.svelte': each,
  'screens/account/two-factor/NewMethodDialog.svelte': each,
  'screens/home/ChatDialog.svelte': "scan('chat with a model')",
  'screens/hosting/DiskDialog.svelte': each,
  'screens/hosting/WorkergroupDialog.svelte': each,
  'screens/instances/automation/RecoveryDialog.svelte': '/^Change what happens if outbid/',
  'screens/instances/dialogs/BidDialog.svelte': '/^Change bid/',
  'screens/instances/dialogs/EditorDialog.svelte': '/^Editor/',
  'screens/instances/dialogs/MachineReportDialog.svelte': '/^Report the machine/',
  'screens/instances/dialogs/PrepayDialog.svelte': '/^Prepay…/',
  'screens/instances/dialogs/RenameDialog.svelte': "'Rename'",
  'screens/instances/files/TextEditor.svelte': '/^note\\.txt$/',
  'screens/instances/selection/BulkLabel.svelte': '/^Name and tag…/',
  'screens/instances/selection/BulkLimit.svelte': '/^No limit/',
  'screens/instances/selection/BulkRun.svelte': '/^Run a command…/',
  'screens/offers/rent/RentDialog.svelte': "scan('rent')",
  'screens/offers/watches/WatchDialog.svelte': each,
  'screens/offers/watches/Watches.svelte': each,
  'screens/projects/CompareDialog.svelte': "scan('comparison'",
  'screens/projects/RunProjectDialog.svelte': "scan('run sheet'",
  'screens/projects/SpecDialog.svelte': "'project form'",
  'screens/projects/SweepDialog.svelte': "'another sweep'",
  'screens/settings/EverythingCaps.svelte': each,
  'screens/settings/RelayDialog.svelte': each,
  'screens/settings/SpenderDialog.svelte': each,
  'screens/transfers/CopyDialog.svelte': each,
  'screens/transfers/SyncDialog.svelte': each,
}

/** These follow an answer of the service, a file or a wrong key; the fields in them are those of the dialogs above. */
const later = new Set([
  'screens/account/ShownOnceDialog.svelte',
  'screens/account/two-factor/ProofDialog.svelte',
  'screens/instances/dialogs/StartDialog.svelte',
  'screens/instances/files/UploadDialog.svelte',
  'screens/offers/rent/RentWithDialog.svelte',
  'screens/settings/ImportKeyDialog.svelte',
])

test('axe looks at every dialog of the page', () => {
  const spec = readFileSync(at('test/e2e/axe.test.ts'), 'utf8')
  const files = readdirSync(at('renderer'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.svelte') && !file.startsWith('components/'))
    .filter(file => /<(Form)?Dialog\b/.test(readFileSync(at(`renderer/${file}`), 'utf8')))
  expect(files.sort()).toEqual([...Object.keys(scanned), ...later].sort())
  for (const words of Object.values(scanned)) expect(spec).toContain(words)
})
