"""Every row of section 4: method and path, `{x}` standing for a path parameter."""

OPERATIONS = tuple(
    (method, f"/api/v0/{path}")
    for method, path in (
        # 4.1
        ("GET", "users/current/"),
        ("POST", "auth/apikeys/"),
        ("GET", "auth/apikeys/"),
        ("PUT", "users/{x}/notification-prefs/"),
        ("PUT", "webhooks/{x}/"),
        # 4.2
        ("POST", "bundles/"),
        ("PUT", "asks/{x}/"),
        ("GET", "instances/"),
        ("GET", "instances/{x}/"),
        ("PUT", "instances/{x}/"),
        ("DELETE", "instances/{x}/"),
        ("POST", "instances/{x}/ssh/"),
        ("PUT", "instances/bid_price/{x}/"),
        # 4.3
        ("PUT", "commands/copy_direct/"),
        ("DELETE", "commands/copy_direct/"),
        ("POST", "commands/rclone/"),
        ("DELETE", "commands/rclone/"),
        # 4.4
        ("POST", "network_disk/"),
        ("PUT", "machines/{x}/cancel_maint"),
        ("PUT", "machines/{x}/cleanup"),
        # 4.5
        ("GET", "template/"),
        ("POST", "template/"),
        ("PUT", "template/"),
        ("DELETE", "template/"),
        # 4.6
        ("POST", "workergroups/"),
        # 4.7
        ("GET", "tfa/status/"),
        ("POST", "tfa/"),
        ("DELETE", "tfa/"),
        ("POST", "tfa/email/"),
        ("POST", "tfa/sms/"),
        ("POST", "tfa/sms/resend/"),
        ("POST", "tfa/totp-setup/"),
        ("POST", "tfa/authorize-new-method/"),
        ("PUT", "tfa/authorize-new-method/"),
        ("POST", "tfa/confirm-new/"),
        ("PUT", "tfa/update/"),
        ("PUT", "tfa/regen-backup-codes/"),
    )
)
