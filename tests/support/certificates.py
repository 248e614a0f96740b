"""Certificates for tests: a certificate authority and what it signs, as PEM files in a folder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The files of a certificate and its private key."""

    path: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Authority:
    """Signs certificates; `path` is its own certificate, which clients must trust."""

    folder: Path
    name: x509.Name
    key: ec.EllipticCurvePrivateKey
    path: Path

    @classmethod
    def make(cls, folder: Path, title: str = "Waitroom tests") -> Self:
        """Make an authority with its own key."""
        folder.mkdir(parents=True, exist_ok=True)
        key, name = ec.generate_private_key(ec.SECP256R1()), _name(title)
        path = folder / "ca.pem"
        builder = _builder(name, name, key).add_extension(x509.BasicConstraints(True, None), True)
        builder = builder.add_extension(_usage(signs=True), True)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        path.write_bytes(_signed(builder.add_extension(identifier, False), key))
        return cls(folder, name, key, path)

    def issue(self, title: str, *hosts: str, ended: bool = False) -> Certificate:
        """Sign a certificate for hosts, given as names and addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(_name(title), self.name, key, ended)
        builder = builder.add_extension(x509.BasicConstraints(False, None), True)
        builder = builder.add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), False
        )
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_host(host) for host in hosts]), False
            )
        made = Certificate(self.folder / f"{title}.pem", self.folder / f"{title}.key")
        made.path.write_bytes(_signed(builder, self.key))
        form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        made.key.write_bytes(key.private_bytes(*form))
        return made


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, ended: bool = False
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 2 * _DAY)
        .not_valid_after(now - _DAY if ended else now + _DAY)
    )


def _signed(builder: x509.CertificateBuilder, key: ec.EllipticCurvePrivateKey) -> bytes:
    return builder.sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _name(title: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title)])


def _host(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)
