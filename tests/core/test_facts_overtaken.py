"""Changes that are told in other words than the fact was, things that only look like it, and what is only supposed."""

from __future__ import annotations

import pytest

from leporello.core.facts.read import read
from leporello.core.facts.relate import relate


def kind(earlier: str, later: str) -> str:
    return relate(read(earlier), read(later)).kind


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The API rate limit is 100 requests per minute.", "We raised the API rate limit to 250 a minute."),
        ("Our standup is at 9:15.", "Standup's been moved to 10."),
        ("Standup is at 9:15.", "Standup has been shifted to 10."),
        ("The default branch is called develop.", "Default branch got renamed to trunk."),
        ("Der Server steht in Frankfurt.", "Der Server ist letzte Woche nach Helsinki umgezogen."),
        ("El viaje a Perú es en noviembre.", "Aplazamos el viaje a Perú a febrero."),
        ("We use Terraform for the infrastructure.", "We ditched Terraform in favour of Pulumi."),
        ("We use Jest.", "We dropped Jest for Vitest."),
        ("Wir nutzen Jenkins für die Builds.", "Jenkins ist abgeschaltet."),
        ("Please answer me in bullet points.", "Stop with the bullet points, write me plain paragraphs."),
        ("I plan to run the half marathon in October.", "I won't be running the half marathon after all."),
        ("We haven't signed the lease yet.", "The lease is signed."),
        ("I haven't sent the invoice yet.", "I sent the invoice."),
        ("Ich trinke morgens immer Kaffee.", "Ich trinke morgens keinen Kaffee mehr, nur noch Tee."),
        ("No me gusta el café.", "Ahora sí me gusta el café."),
        ("My doctor is Dr. Patel.", "I changed doctors, I see Dr. Nowak now."),
        ("Priya is my manager.", "Priya left the company, I report to Tom now."),
        ("I'm in the office three days a week.", "I'm fully remote starting this month."),
        ("The team offsite is on June 12.", "The offsite got pushed back to June 19."),
        ("Dan is our designer.", "Dan left the company on Friday."),
        ("Ich arbeite bei der Sparkasse.", "Seit März arbeite ich bei der Volksbank."),
        ("My manager is Priya.", "Priya left, Tom is my manager now."),
        ("Ich rauche.", "Ich habe mit dem Rauchen aufgehört."),
        ("The API rate limit is 100 requests per minute.", "They raised the API rate limit to 500 a minute."),
        ("Standup is at 9:30 every morning.", "Standup has been moved to 10."),
        ("Der Zahnarzttermin ist am Mittwoch.", "Ich hatte mich vertan, der Zahnarzttermin ist am Freitag."),
        ("We deploy with Jenkins.", "Jenkins is gone."),
        ("Our landlord is Mr Doyle.", "We have a new landlord, Mrs Okafor."),
        ("My daughter is 6.", "My daughter turned 7 yesterday."),
    ],
)
def test_it_is_over(earlier: str, later: str) -> None:
    assert kind(earlier, later) == "update"


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The API rate limit is 100 requests per minute.", "We raised the API timeout to 30 seconds."),
        ("The API rate limit is 100 requests per minute.", "We raised the API rate limit for admins to 250 a minute."),
        ("The server is in Frankfurt.", "We moved the staging server to Helsinki."),
        ("The default branch is called develop.", "We renamed the feature branch to trunk."),
        ("The app runs on Heroku.", "We moved the app's images to S3."),
        ("The car is in the garage.", "I moved the bike to the garage."),
        ("The office is in Berlin.", "We moved the printer to the office in Munich."),
        ("The CEO is Anna.", "The CEO moved to Spain."),
        ("The deadline is Friday.", "The deadline for the slides moved to Monday."),
        ("The budget is 500 euros.", "The travel budget was raised to 900 euros."),
        ("We use Terraform for the infrastructure.", "We dropped Terraform for the side project in favour of Pulumi."),
        ("The payments service runs on Kubernetes.", "The search service was moved off Kubernetes to plain VMs."),
        ("We use Redis for caching.", "Stop using Redis for sessions."),
        ("We use Jenkins.", "Jenkins was down this morning."),
        ("I have yoga on Mondays.", "I'll skip yoga this Monday."),
        ("The importer handles CSV files.", "The importer can't handle CSV files over 2 GB."),
        ("I drink coffee.", "I don't drink coffee after 3 pm."),
        ("J'aime le fromage.", "Je n'aime pas le fromage de chèvre."),
        ("Tom is a nurse.", "Tom left the company."),
        ("Mein Bruder Felix ist Arzt.", "Felix arbeitet als Kinderarzt an der Uniklinik."),
        ("We deploy the billing service with Jenkins.", "The reporting service moved from Jenkins to GitHub Actions."),
        ("I like dark mode in my editor.", "I switched my phone to light mode."),
        ("Wir benutzen MySQL für den Shop.", "Das Lager haben wir auf Postgres umgestellt."),
        ("Uso Chrome para navegar.", "Mi compañera cambió Chrome por Firefox."),
        ("El presupuesto del proyecto es de 5000 euros.", "Ya gastamos 1000 euros del presupuesto del proyecto."),
        ("We use MySQL for the shop.", "The analytics team switched from MySQL to BigQuery."),
        ("Nuestro equipo usa Slack.", "El equipo de ventas se pasó a Teams."),
        ("I have a flight to Oslo on Friday at 6.", "My colleague's flight to Oslo got moved to Saturday."),
        ("The demo is on Thursday.", "The demo rehearsal was moved to Wednesday."),
        ("The production database is Postgres 14.", "We upgraded the staging database to Postgres 16."),
        ("We use tabs for indentation in the Go code.", "In the Python repo we changed to four spaces."),
        ("Wir verwenden Angular im Kundenportal.", "Im internen Tool sind wir von Angular auf Vue umgestiegen."),
        ("My brother Sam lives in Chicago.", "My cousin Sam just moved to Denver."),
        ("My boss is Karen.", "Karen's on vacation this week, so I report to Dmitri until Monday."),
        ("Book club is at my place on the 20th.", "Rachel can't make it to book club on the 20th any more."),
        ("I drink coffee in the morning.", "I stopped drinking coffee after lunch."),
        ("The Q3 target is 2 million.", "The Q4 target was raised to 3 million."),
        ("We haven't deployed to production yet.", "We deployed to staging."),
    ],
)
def test_it_is_not_over(earlier: str, later: str) -> None:
    assert kind(earlier, later) in {"none", "conflict"}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The client meeting is on Wednesday.", "The client meeting might be on Thursday."),
        ("The cache TTL is 10 minutes.", "I think the cache TTL might be 5 minutes, not sure."),
        ("The offsite is in Porto.", "Not sure, but the offsite may be in Lisbon."),
        ("La boda es el 14 de junio.", "Creo que la boda podría ser el 15 de junio, no estoy seguro."),
        ("The budget is 5000 euros.", "Maybe the budget is 6000 euros."),
    ],
)
def test_what_is_only_supposed_is_a_conflict(earlier: str, later: str) -> None:
    assert kind(earlier, later) == "conflict"


def test_what_may_become_of_something_is_none() -> None:
    assert kind("I live in Lyon.", "I might move to Paris.") == "none"
    assert kind("The launch is in May.", "If the launch were in June, we could finish the docs.") == "none"
