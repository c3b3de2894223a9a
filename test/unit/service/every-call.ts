import type { ServiceClient } from '../../../electron/service/client.ts'

/** One call of every method of the client, by its name. */
export function everyCall(client: ServiceClient): Record<string, () => Promise<unknown>> {
  const { account, apiKeys, webhooks, offers, instances, transfers, machines, templates } = client
  const { workergroups, twoFactor } = client
  const hook = { name: 'a', webhook_url: 'https://a.example', event_types: [] }
  const registry = { docker_login_repo: '', docker_login_user: '', docker_login_pass: '' }
  const sync = { instance_id: '1', src: 'a', dst: 'b', selected: '1', transfer: 'Instance To Cloud' }
  return {
    'account.currentUser': () => account.currentUser(),
    'account.notificationPreferences': () => account.notificationPreferences(1),
    'account.replaceNotificationPreferences': () => account.replaceNotificationPreferences(1, {}),
    'account.listSshKeys': () => account.listSshKeys(),
    'account.addSshKey': () => account.addSshKey('a'),
    'apiKeys.create': () => apiKeys.create({ name: 'a' }),
    'apiKeys.list': () => apiKeys.list(),
    'apiKeys.remove': () => apiKeys.remove(1),
    'webhooks.list': () => webhooks.list(),
    'webhooks.create': () => webhooks.create(hook),
    'webhooks.update': () => webhooks.update(1, { name: 'a' }),
    'webhooks.remove': () => webhooks.remove(1),
    'offers.search': () => offers.search({}),
    'offers.createInstance': () => offers.createInstance(1, {}),
    'instances.list': () => instances.list(),
    'instances.one': () => instances.one(1),
    'instances.stop': () => instances.stop(1),
    'instances.start': () => instances.start(1),
    'instances.rename': () => instances.rename(1, 'a'),
    'instances.destroy': () => instances.destroy(1),
    'instances.reboot': () => instances.reboot(1),
    'instances.attachSshKey': () => instances.attachSshKey(1, 'a'),
    'instances.changeBid': () => instances.changeBid(1, 1),
    'transfers.copy': () => transfers.copy({ src_path: 'a', dst_path: 'b' }),
    'transfers.cancelCopy': () => transfers.cancelCopy(1),
    'transfers.cloudSync': () => transfers.cloudSync({ ...sync, flags: [], api_key: 'a' }),
    'transfers.cancelSync': () => transfers.cancelSync(1),
    'machines.list': () => machines.list(),
    'machines.listNetworkDisks': () => machines.listNetworkDisks(),
    'machines.addNetworkDisk': () => machines.addNetworkDisk({ mount_point: '/a', machine_id: 1 }),
    'machines.cancelMaintenance': () => machines.cancelMaintenance(1),
    'machines.cleanup': () => machines.cleanup(1),
    'templates.search': () => templates.search({}),
    'templates.create': () => templates.create({ name: 'a', image: 'b', ...registry }),
    'templates.edit': () => templates.edit('a', {}),
    'templates.remove': () => templates.remove(1),
    'workergroups.list': () => workergroups.list(),
    'workergroups.create': () => workergroups.create({}),
    'twoFactor.status': () => twoFactor.status(),
    'twoFactor.login': () => twoFactor.login({ code: '1' }),
    'twoFactor.removeMethod': () => twoFactor.removeMethod({ code: '1' }),
    'twoFactor.sendEmail': () => twoFactor.sendEmail({}),
    'twoFactor.sendSms': () => twoFactor.sendSms({}),
    'twoFactor.resendSms': () => twoFactor.resendSms({}),
    'twoFactor.setUpTotp': () => twoFactor.setUpTotp(),
    'twoFactor.authorizeNewMethod': () => twoFactor.authorizeNewMethod({}),
    'twoFactor.confirmAuthorization': () => twoFactor.confirmAuthorization({ code: '1', secret: 'a' }),
    'twoFactor.confirmMethod': () => twoFactor.confirmMethod({ tfa_method: 'totp', code: '1', secret: 'a' }),
    'twoFactor.updateMethod': () => twoFactor.updateMethod({ label: 'a' }),
    'twoFactor.regenerateBackupCodes': () => twoFactor.regenerateBackupCodes({ code: '1' }),
  }
}
